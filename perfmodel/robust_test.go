package perfmodel_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// Sizes that do not fit are refused, zeros are work of nothing, and no argument brings a model down.
func TestExtremes(t *testing.T) {
	huge := int64(math.MaxInt64)
	for _, c := range []*perfmodel.Call{
		call("aten::mm", bf16(huge, huge), bf16(huge, huge)),
		call("aten::mm", bf16(1<<31, 1<<30), bf16(1<<30, 1<<31)),
		call("aten::add", bf16(1<<40, 1), bf16(1, 1<<40), number("1")),
		call("aten::_scaled_dot_product_flash_attention", bf16(1, 1, 1<<40, 64), bf16(1, 1, 1<<40, 64),
			bf16(1, 1, 1<<40, 64), number("0."), number("True")),
		call("aten::bmm", strided(bf16(huge, 1, 1), 0, 1, 1), strided(bf16(huge, 1, 1), 0, 1, 1)),
		call("aten::constant_pad_nd", bf16(1<<31, 1<<30), list("[2147483647, 2147483647, 2147483647, 2147483647]"),
			number("0")),
	} {
		w, err := models.Lookup(c).Work(c)
		var e *perfmodel.RangeError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.Name) {
			t.Errorf("%s: %+v, %v; want a RangeError", c.Name, w, err)
		}
	}
	wants(t, call("aten::mm", bf16(0, 8), bf16(8, 4)), 0, 64)
	wants(t, call("aten::mm", bf16(4, 0), bf16(0, 4)), 0, 32)
	wants(t, call("aten::add", bf16(0), bf16(0), number("1")), 0, 0)
	wants(t, call("aten::native_layer_norm", bf16(0, 8), list("[8]"), absent, absent, number("0")), 0, 0)
	wants(t, call("aten::_scaled_dot_product_flash_attention", bf16(1, 0, 8, 8), bf16(1, 0, 8, 8), bf16(1, 0, 8, 8),
		number("0."), number("True")), 0, 0)
	refused(t, call("aten::mm", bf16(-1, 8), bf16(8, 4)), "sane shape")
	refused(t, call("aten::mm"), "none are recorded")
	refused(t, &perfmodel.Call{Name: "aten::mm"}, "none are recorded")
	refused(t, call("aten::mm", bf16(8, 8)), "argument 1")
	refused(t, call("aten::mm", number("1"), number("2")), "shape of argument 0")
}

func FuzzModels(f *testing.F) {
	f.Add("aten::mm", "c10::BFloat16", "float", "[1, 1]", "True", int64(64), int64(8), int64(3), uint8(3))
	f.Add("aten::convolution", "float", "", "[0]", "1", int64(1), int64(-3), int64(1)<<40, uint8(9))
	f.Add("triton_red_fused_add_native_layer_norm_3", "c10::Half", "long int", "128", "7", int64(0), int64(9),
		int64(math.MaxInt64), uint8(5))
	f.Add("aten::arange", "Scalar", "Scalar", "1e300", "-inf", int64(5), int64(5), int64(5), uint8(7))
	f.Add("aten::_flash_attention_forward", "c10::BFloat16", "int", "-1", "True", int64(1), int64(77), int64(64),
		uint8(15))
	f.Fuzz(func(t *testing.T, name, type1, type2, value1, value2 string, a, b, c int64, n uint8) {
		args := make([]trace.Arg, n%20)
		shapes := [...][]int64{{a, b}, {a, b, c}, {b, c, a, c}, {c}, {}, {a, b, c, a, b}, {b, a}, {c, b}}
		for i := range args {
			arg := trace.Arg{Type: type1, Dims: shapes[(i+int(n)/20)%len(shapes)], Value: value1}
			if i%3 == 2 {
				arg.Type, arg.Value = type2, value2
			}
			if i%2 == 1 {
				arg.Strides = arg.Dims
			}
			if arg.Type == "Scalar" || arg.Type == "ScalarList" {
				arg.Dims, arg.Strides = nil, nil
			}
			if arg.Type == "TensorList" {
				arg.List = []trace.Arg{{Dims: arg.Dims}, {Dims: shapes[0], Strides: shapes[3]}}
			}
			args[i] = arg
		}
		k := &perfmodel.Call{Name: name, Kernel: value2, Bytes: c, Kind: trace.GPUKind(n % 3),
			Dir: trace.CopyDir(n % 7), Inputs: &trace.Inputs{Args: args,
				Extra: map[string]string{"kernel_kwargs": "XBLOCK=1,R0_BLOCK=2", "Collective name": value1,
					"dtype": type2, "In msg nelems": value2,
					"Out msg nelems": "7", "Group size": value1}}}
		for _, e := range everyModel {
			check(t, e.Model, k)
		}
		if m := models.Lookup(k); m != nil {
			check(t, m, k)
		}
		perfmodel.Classify(name, value1)
	})
}

var everyModel = models.All()

// check asks a model about a call of any kind and demands an answer in bounds or a typed error.
func check(t *testing.T, m perfmodel.OpModel, c *perfmodel.Call) {
	w, err := m.Work(c)
	if err != nil {
		var missing *perfmodel.MissingError
		var span *perfmodel.RangeError
		if !errors.As(err, &missing) && !errors.As(err, &span) {
			t.Fatalf("%s: untyped error %v", m.Info().Name, err)
		}
		return
	}
	if w.Bytes < 0 || w.Read < 0 || w.Written < 0 || w.FLOPs() < 0 || w.Read+w.Written > w.Bytes || w.Read+w.Written < 0 {
		t.Fatalf("%s: %+v for %+v", m.Info().Name, w, c.Inputs.Args)
	}
	if (w.Certainty == perfmodel.Exact) != (w.Why == "") {
		t.Fatalf("%s: certainty %v with reason %q", m.Info().Name, w.Certainty, w.Why)
	}
}

// A hundred thousand calls as a run of FLUX makes them: products, compiled kernels, attention and pointwise operators.
func BenchmarkLookupAndWork(b *testing.B) {
	rows := workedRows()
	b.ReportAllocs()
	const calls = 100_000
	for b.Loop() {
		for i := range calls {
			c := rows[i%len(rows)].call
			if _, err := models.Lookup(c).Work(c); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
}

// Counting costs no memory.
func TestWorkAllocatesNothing(t *testing.T) {
	for _, row := range workedRows() {
		m := models.Lookup(row.call)
		if n := testing.AllocsPerRun(10, func() {
			if models.Lookup(row.call) != nil {
				m.Work(row.call)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations", row.name, n)
		}
	}
}
