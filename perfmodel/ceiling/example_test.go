package ceiling_test

import (
	"fmt"
	"os"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

// The best that FLUX.1 can do on an MI300X at 1024x1024 in 28 steps.
func Example() {
	model, err := ceiling.Open(os.DirFS("testdata/models/flux1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	request := model.Defaults()
	request.Steps = 28
	work, err := model.Work(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	ideal, err := work.Ideal(hw.MI300X(), hw.Achievable)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f TFLOP a forward, %.3f images/sec\n", float64(work.Forward().FLOPs)/1e12, ideal.ImagesPerSecond)
	// Output: 74.4 TFLOP a forward, 0.334 images/sec
}
