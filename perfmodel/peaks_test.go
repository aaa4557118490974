package perfmodel_test

import (
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
)

// Work of every element type has a roof: no model asks a GPU for arithmetic that its spec cannot place.
func TestEveryTypeHasARoof(t *testing.T) {
	for _, typ := range []string{"bool", "signed char", "short", "int", "long int", "c10::Half", "c10::BFloat16",
		"float", "double",
		"c10::complex<float>", "c10::complex<double>", "c10::Float8_e4m3fn", "c10::Float8_e4m3fnuz",
		"c10::Float8_e5m2"} {
		x, w := tensor(typ, 1, 64, 64, 64), tensor(typ, 64, 64, 3, 3)
		m := tensor(typ, 64, 64)
		ones := list("[1, 1]")
		for _, c := range []*perfmodel.Call{
			call("aten::add", x, x, number("1")), call("aten::sum", x, absent), call("aten::copy_", x, x),
			call("aten::cumsum", x, number("0"), absent),
			call("aten::mm", m, m), call("aten::scaled_dot_product_attention", x, x, x, absent, number("0."),
				number("False")),
			call("aten::convolution", x, w, absent, ones, ones, ones, number("False"), ones, number("1")),
		} {
			for _, ceiling := range []hw.Ceiling{hw.Achievable, hw.Datasheet} {
				if _, err := hw.Roofline(hw.MI300X(), ceiling, work(t, c).Demand); err != nil {
					t.Errorf("%s of %s: %v", c.Name, typ, err)
				}
			}
		}
	}
}
