package hw_test

import (
	"fmt"
	"time"

	"github.com/ditlens/ditlens/hw"
)

// A matrix product of Stable Diffusion 3.5 under both ceilings of a GPU.
func ExampleRoofline() {
	work := hw.Demand{Bytes: 246_546_432}
	work.Compute[0] = hw.Compute{Unit: hw.Matrix, Type: hw.BF16, FLOPs: 387_620_798_464}

	gpu := hw.MI300X()
	for _, ceiling := range []hw.Ceiling{hw.Achievable, hw.Datasheet} {
		roof, err := hw.Roofline(gpu, ceiling, work)
		if err != nil {
			fmt.Println(err)
			return
		}
		place, _ := hw.Place(gpu, work, roof, 656588*time.Nanosecond, false)
		fmt.Printf("%s: %.1f us, %s bound, %.1f %%\n", ceiling, roof.Time*1e6, place.Bound, place.Percent)
	}
	// Output:
	// achievable: 547.5 us, compute bound, 83.4 %
	// datasheet: 296.5 us, compute bound, 45.2 %
}

func ExampleLookup() {
	_, err := hw.Lookup("MI301X")
	fmt.Println(err)
	// Output:
	// hw: no spec for GPU "MI301X"; nearest: MI300X, MI308X, MI350X; give one of the shipped names or a JSON spec file (hw.Template, or examples/hardware -template NAME, gives one to start from)
}
