package perfmodeltest_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/perfmodeltest"
	"github.com/ditlens/ditlens/trace"
)

// recorder collects what a check complains of.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }

func good(c *perfmodel.Call) (perfmodel.Work, error) {
	x, err := c.Tensor(0)
	if err != nil {
		return perfmodel.Work{}, err
	}
	w := perfmodel.Work{Category: "own", Read: x.Bytes()}
	w.Bytes = w.Read
	w.Compute[0] = hw.Compute{Unit: hw.Vector, Type: x.Type, FLOPs: x.Elements()}
	return w, nil
}

func sample() *perfmodel.Call {
	return &perfmodel.Call{Name: "my::op", Inputs: &trace.Inputs{Args: []trace.Arg{{Type: "float",
		Dims: []int64{4, 8}, Strides: []int64{8, 1}}}}}
}

func TestRun(t *testing.T) {
	var calls atomic.Int64
	var once sync.Once
	var kept []int64
	for _, tt := range []struct {
		name, want string
		info       perfmodel.Info
		work       func(c *perfmodel.Call) (perfmodel.Work, error)
	}{
		{"good", "", perfmodel.Info{Name: "my.op", Doc: "reads"}, good},
		{"parts without their sum", "", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				w.Bytes, w.Read, w.Written = 0, w.Bytes, 1
				return w, err
			}},
		{"undocumented", "must not be empty", perfmodel.Info{Name: "my.op"}, good},
		{"negative", "negative traffic", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				w.Bytes = -w.Bytes
				return w, err
			}},
		{"reason missing", "a reason is needed", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				w.Certainty = perfmodel.LowerBound
				return w, err
			}},
		{"more than all", "more than the", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				w.Written = 1
				return w, err
			}},
		{"no category", "no category", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				w.Category = ""
				return w, err
			}},
		{"keeps the call's slices", "memory of the first one", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				once.Do(func() { kept = c.Inputs.Args[0].Dims })
				w.Bytes += kept[0]
				return w, err
			}},
		{"impure", "another answer", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				w.Bytes += calls.Add(1) % 3
				return w, err
			}},
		{"changes the call", "changed the call", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				if err == nil {
					c.Inputs.Args[0].Value = "seen"
				}
				return w, err
			}},
		{"guesses", "MissingError", perfmodel.Info{Name: "my.op", Doc: "reads"},
			func(c *perfmodel.Call) (perfmodel.Work, error) {
				w, err := good(c)
				if err != nil {
					return perfmodel.Work{Category: "own"}, nil
				}
				return w, err
			}},
		{"fails", "boom", perfmodel.Info{Name: "my.op", Doc: "reads"}, func(*perfmodel.Call) (perfmodel.Work, error) {
			return perfmodel.Work{}, fmt.Errorf("boom")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			perfmodeltest.Run(r, perfmodel.Func(tt.info, tt.work), sample())
			got := strings.Join(r.errors, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("complaints %q, want one with %q", got, tt.want)
			}
		})
	}
}
