package trace_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/trace"
)

// A kernelCall is one launch of a generated network: what runs on the device, and the operator whose it is.
type kernelCall struct {
	name   string
	op     string
	dims   []int64
	stream int64
	copy   bool
}

func (k kernelCall) truth() string { return fmt.Sprint(k.op, k.dims) }

// network makes a graph like that of a transformer: a head, blocks that repeat names, some with other shapes in each block,
// and a tail.
func network(rnd *rand.Rand, blocks, layers int, tag string) []kernelCall {
	list := []kernelCall{{name: "embed" + tag, op: "aten::embedding", dims: []int64{1}}, {name: "copy", op: "aten::copy_", dims: []int64{7}, copy: true}}
	block := make([]kernelCall, layers)
	for i := range block {
		block[i] = kernelCall{name: fmt.Sprint("gemm", rnd.IntN(layers/2+1)), op: "aten::mm", dims: []int64{int64(rnd.IntN(4)), 64}}
		if rnd.IntN(2) == 0 {
			block[i] = kernelCall{name: fmt.Sprint("triton", i, tag), op: fmt.Sprint("triton", i, tag), dims: []int64{int64(i)}}
		}
	}
	for b := range blocks {
		for i, k := range block {
			if i%5 == 4 {
				k.dims = []int64{int64(b), 2} // a shape that only this block has
			}
			list = append(list, k)
		}
	}
	return append(list, kernelCall{name: "norm_out" + tag, op: "aten::native_layer_norm", dims: []int64{9}}, kernelCall{name: "gemm0", op: "aten::addmm", dims: []int64{256, 64}})
}

// capturing builds a trace in which graphs were captured.
func capturing(t *testing.T, rnd *rand.Rand, graphs ...[]kernelCall) *trace.Trace {
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	at := time.Duration(1000)
	var add []func()
	for _, calls := range graphs {
		add = append(add, call(&b, th, "hipStreamBeginCapture", "", at))
		begin := at
		for i, k := range calls {
			at += 1000
			name, kernel := []string{"hipModuleLaunchKernel", "hipExtLaunchByName"}[i%2], k.name
			if k.name == "" {
				name = "cudaLaunchKernel"
			}
			if k.copy {
				name, kernel = "hipMemcpyAsync", ""
			}
			in := b.Inputs(trace.Inputs{Args: []trace.Arg{{Type: "float", Dims: k.dims}}})
			op := trace.Op{Name: k.op, Start: at, Dur: 900, Thread: th, Inputs: in, ExternalID: int64(i + 1)}
			outer := trace.Op{Name: "outer " + k.op, Start: at - 50, Dur: 950, Thread: th, ExternalID: int64(i + 1)}
			add = append(add, func() { b.Op(op) }, func() { b.Op(outer) }, call(&b, th, name, kernel, at+10))
		}
		at += 1000
		add = append(add, call(&b, th, "hipStreamEndCapture", "", at))
		region := trace.Op{Name: "region", Start: begin - 100, Dur: at - begin + 200, Thread: th}
		add = append(add, func() { b.Op(region) })
		at += 5000
	}
	return buildShuffled(t, rnd, &b, add)
}

func call(b *trace.Builder, th trace.ThreadID, name, kernel string, at time.Duration) func() {
	return func() { b.Launch(trace.Launch{Name: name, Kernel: kernel, Start: at, Dur: 10, Thread: th}) }
}

func buildShuffled(t *testing.T, rnd *rand.Rand, b *trace.Builder, add []func()) *trace.Trace {
	rnd.Shuffle(len(add), func(i, j int) { add[i], add[j] = add[j], add[i] })
	for _, f := range add {
		f()
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// replaying builds a trace in which graphs are replayed. Streams run their own kernels in order, at their own pace.
func replaying(t *testing.T, rnd *rand.Rand, graphs ...[]kernelCall) *trace.Trace {
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	at := time.Duration(1000)
	var add []func()
	for i, calls := range graphs {
		corr := int64(i + 1)
		l := trace.Launch{Name: "hipGraphLaunch", Start: at, Dur: 100_000, Thread: th, Correlation: corr}
		op := trace.Op{Name: "region", Start: at - 10, Dur: 100_100, Thread: th}
		add = append(add, func() { b.Launch(l) }, func() { b.Op(op) })
		clock := make(map[int64]time.Duration)
		for _, k := range calls {
			g := trace.GPUEvent{Name: k.name, Start: at + 200 + clock[k.stream], Dur: time.Duration(50 + rnd.IntN(20)), Correlation: corr, Stream: k.stream}
			if k.copy {
				g.Kind, g.Name = trace.Memcpy, "Memcpy DtoD"
			}
			clock[k.stream] += g.Dur + time.Duration(rnd.IntN(30))
			add = append(add, func() { b.GPU(g) })
		}
		at += 10_000_000
	}
	return buildShuffled(t, rnd, &b, add)
}

// outcome merges and counts, over all replays, the events whose operator is right, wrong or unknown.
func outcome(t *testing.T, main *trace.Trace, replays [][]kernelCall, captures ...trace.Capture) (right, wrong, unknown int, match *trace.CaptureMatch) {
	t.Helper()
	merged, match, err := trace.MergeCapture(main, captures...)
	if err != nil {
		t.Fatal(err)
	}
	if err := merged.Check(); err != nil {
		t.Fatal(err)
	}
	for i, r := range merged.GraphReplays() {
		// Events of a stream are in the order of the calls of that stream.
		calls := make(map[int64][]kernelCall)
		for _, k := range replays[i] {
			calls[k.stream] = append(calls[k.stream], k)
		}
		for _, id := range r.Events {
			g := &merged.GPU[id]
			k := calls[g.Stream][0]
			calls[g.Stream] = calls[g.Stream][1:]
			o := &merged.Ops[g.Op]
			switch {
			case !o.Captured:
				unknown++
			case fmt.Sprint(o.Name, o.Inputs.Args[0].Dims) == k.truth() && merged.Ops[o.Parent].Name == "outer "+k.op:
				right++
			default:
				wrong++
			}
		}
	}
	if right+wrong != match.Paired || unknown != match.Unknown {
		t.Errorf("match says %d paired and %d unknown of %d right, %d wrong, %d unknown", match.Paired, match.Unknown, right, wrong, unknown)
	}
	return right, wrong, unknown, match
}

func drop(rnd *rand.Rand, list []kernelCall, percent int) (kept []kernelCall) {
	for _, k := range list {
		if rnd.IntN(100) >= percent {
			kept = append(kept, k)
		}
	}
	return kept
}

// Damage of a capture makes events unknown, never wrong, and few more than the damage.
func TestMergeCaptureDamaged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		capture func(rnd *rand.Rand, net []kernelCall) []kernelCall
		replay  func(rnd *rand.Rand, net []kernelCall) []kernelCall
		alike   bool    // all blocks have the same shapes
		unknown float64 // largest share
	}{
		{name: "whole"},
		{name: "missing tail", replay: func(_ *rand.Rand, net []kernelCall) []kernelCall { return net[:len(net)-1] }},
		{name: "launches dropped", capture: func(rnd *rand.Rand, net []kernelCall) []kernelCall { return drop(rnd, net, 10) }, unknown: 0.3},
		{name: "kernels dropped", replay: func(rnd *rand.Rand, net []kernelCall) []kernelCall { return drop(rnd, net, 10) }, unknown: 0.3},
		{name: "block inserted", capture: func(_ *rand.Rand, net []kernelCall) []kernelCall {
			at := 2 + 20*(len(net)/40)
			return append(append(append([]kernelCall(nil), net[:at+20]...), net[at:at+20]...), net[at+20:]...)
		}, unknown: 0.5}, // each block has shapes of its own: which one is too many cannot be told where names repeat
		{name: "block of equal shapes inserted", alike: true, capture: func(_ *rand.Rand, net []kernelCall) []kernelCall {
			at := 2 + 20*(len(net)/40)
			return append(append(append([]kernelCall(nil), net[:at+20]...), net[at:at+20]...), net[at+20:]...)
		}, unknown: 0.3},
		{name: "block dropped", capture: func(_ *rand.Rand, net []kernelCall) []kernelCall {
			at := 2 + 20*(len(net)/40)
			return append(append([]kernelCall(nil), net[:at]...), net[at+20:]...)
		}, unknown: 0.5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, lost := 0, 0
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				net := network(rnd, 12, 20, "")
				for i := 22; tt.alike && i < len(net)-2; i++ {
					net[i].dims = net[i-20].dims
				}
				replay, captured := net, net
				if tt.replay != nil {
					replay = tt.replay(rnd, net)
				}
				if tt.capture != nil {
					captured = tt.capture(rnd, net)
				}
				replays := [][]kernelCall{replay, replay, replay}
				right, wrong, unknown, match := outcome(t, replaying(t, rnd, replays...), replays, trace.Capture{Trace: capturing(t, rnd, captured)})
				if wrong > 0 || match.Matched != 3 {
					t.Errorf("seed %d: %d right, %d wrong, %d unknown; %d matched", seed, right, wrong, unknown, match.Matched)
				}
				all, lost = all+right+unknown, lost+unknown
			}
			if share := float64(lost) / float64(all); share > tt.unknown {
				t.Errorf("%.1f %% of events unknown, want at most %.1f %%", 100*share, 100*tt.unknown)
			}
		})
	}
}

// Two graphs that share names are told apart by their sequences, whatever the order of replays.
func TestMergeCaptureOfSeveralGraphs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		a, b := network(rnd, 5, 20, ""), network(rnd, 7, 20, "")
		replays := [][]kernelCall{a, b, b, a, b}
		right, wrong, unknown, _ := outcome(t, replaying(t, rnd, replays...), replays, trace.Capture{Trace: capturing(t, rnd, b, a)})
		if wrong+unknown > 0 {
			t.Errorf("seed %d: %d right, %d wrong, %d unknown", seed, right, wrong, unknown)
		}
		// The same from two capture files.
		right, wrong, unknown, _ = outcome(t, replaying(t, rnd, replays...), replays,
			trace.Capture{Trace: capturing(t, rnd, b)}, trace.Capture{Trace: capturing(t, rnd, a)})
		if wrong+unknown > 0 {
			t.Errorf("seed %d, two files: %d right, %d wrong, %d unknown", seed, right, wrong, unknown)
		}
	}
}

// The last replay of a trace may be cut off. It is known by the others.
func TestMergeCaptureOfCutReplay(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 8))
	net := network(rnd, 12, 20, "")
	for _, n := range []int{1, 30, len(net) - 2} {
		replays := [][]kernelCall{net, net, net[:n]}
		right, wrong, unknown, match := outcome(t, replaying(t, rnd, replays...), replays, trace.Capture{Trace: capturing(t, rnd, net)})
		if wrong+unknown > 0 || match.Matched != 3 {
			t.Errorf("cut at %d: %d right, %d wrong, %d unknown", n, right, wrong, unknown)
		}
	}
	// By itself, or if it goes on otherwise, it is not.
	if _, _, err := trace.MergeCapture(replaying(t, rnd, net[:30]), trace.Capture{Trace: capturing(t, rnd, net)}); err == nil {
		t.Error("merged the beginning of a replay")
	}
	other := append(append([]kernelCall(nil), net[:10]...), kernelCall{name: "other"})
	replays := [][]kernelCall{net, other}
	if _, wrong, unknown, _ := outcome(t, replaying(t, rnd, replays...), replays, trace.Capture{Trace: capturing(t, rnd, net)}); wrong > 0 || unknown != len(other) {
		t.Errorf("other graph: %d wrong, %d unknown of %d", wrong, unknown, len(other))
	}
}

// Kernels of several streams interleave on the device otherwise than they were captured.
func TestMergeCaptureOfSeveralStreams(t *testing.T) {
	t.Parallel()
	all, lost := 0, 0
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		net := network(rnd, 12, 20, "")
		for i := range net {
			net[i].stream = int64(i / 10 % 3)
		}
		replays := [][]kernelCall{net, net}
		right, wrong, unknown, _ := outcome(t, replaying(t, rnd, replays...), replays, trace.Capture{Trace: capturing(t, rnd, net)})
		if wrong > 0 {
			t.Errorf("seed %d: %d right, %d wrong, %d unknown", seed, right, wrong, unknown)
		}
		all, lost = all+right+unknown, lost+unknown

		damaged := drop(rnd, net, 10)
		right, wrong, unknown, match := outcome(t, replaying(t, rnd, replays...), replays, trace.Capture{Trace: capturing(t, rnd, damaged)})
		if wrong > len(replays)*(len(net)-len(damaged)) {
			t.Errorf("seed %d, damaged: %d right, %d wrong, %d unknown, %d matched", seed, right, wrong, unknown, match.Matched)
		}
	}
	if 4*lost > all {
		t.Errorf("%d of %d events unknown", lost, all)
	}
}

// On NVIDIA a captured launch does not tell its kernel. The operators that ran before the capture do, and Triton's kernels
// are called as their operators; then the same rules apply. If a launch stays nameless only an exact count will do.
func TestMergeCaptureWithoutKernelNames(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 7))
	net := network(rnd, 12, 20, "")
	for i := range net {
		net[i].copy = false
		net[i].name = strings.ReplaceAll(net[i].op, "aten::", "at_") + fmt.Sprint(net[i].dims) // each operator has its kernel
	}
	nameless := func(captured []kernelCall) []kernelCall {
		out := append([]kernelCall(nil), captured...)
		for i := range out {
			out[i].name = ""
		}
		return out
	}
	replays := [][]kernelCall{net[:len(net)-1]}
	main := replaying(t, rnd, replays...)
	right, _, _, _ := outcome(t, main, replays, trace.Capture{Trace: capturing(t, rnd, nameless(net))})
	if right != len(replays[0]) {
		t.Errorf("exact count: %d right of %d", right, len(replays[0]))
	}
	damaged := drop(rnd, net, 10)
	if _, _, err := trace.MergeCapture(main, trace.Capture{Trace: capturing(t, rnd, nameless(damaged))}); err == nil {
		t.Error("merged a damaged capture without names")
	}
	right, wrong, _, _ := outcome(t, main, replays, trace.Capture{Trace: warmedUp(t, rnd, net, nameless(damaged))})
	if right < len(net)*2/3 || wrong > 0 {
		t.Errorf("after a warm-up: %d right, %d wrong", right, wrong)
	}
}

// warmedUp builds a trace in which calls run eagerly and are captured then.
func warmedUp(t *testing.T, rnd *rand.Rand, eager, captured []kernelCall) *trace.Trace {
	c := capturing(t, rnd, captured)
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	for i := range c.Ops {
		o := c.Ops[i]
		if o.Inputs != nil {
			o.Inputs = b.Inputs(*o.Inputs)
		}
		b.Op(o)
	}
	for i := range c.Launches {
		b.Launch(c.Launches[i])
	}
	for i, k := range eager {
		at, corr := time.Duration(1_000_000_000+1000*i), int64(i+1)
		b.Op(trace.Op{Name: k.op, Start: at, Dur: 500, Thread: th, Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{{Type: "float", Dims: k.dims}}})})
		b.Launch(trace.Launch{Name: "cudaLaunchKernel", Start: at + 1, Dur: 10, Thread: th, Correlation: corr})
		b.GPU(trace.GPUEvent{Name: k.name, Start: at + 600, Dur: 100, Correlation: corr})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Graphs with the same kernels and other shapes cannot be told apart by names.
func TestMergeCaptureAmongEqualKernels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	one := network(rnd, 4, 10, "")
	two := append([]kernelCall(nil), one...)
	for i := range two {
		two[i].dims = append([]int64{2}, two[i].dims...)
	}
	replays := [][]kernelCall{one, two}
	main := replaying(t, rnd, replays...)
	both := capturing(t, rnd, one, two)

	_, wrong, unknown, match := outcome(t, main, replays, trace.Capture{Trace: both})
	if match.Matched != 0 || wrong != 0 || unknown != len(one)+len(two) {
		t.Errorf("matched %d replays without evidence", match.Matched)
	}
	right, _, _, _ := outcome(t, main, replays, trace.Capture{Trace: both, Piecewise: true})
	if right != len(one)+len(two) {
		t.Errorf("pieces in order: %d right", right)
	}
	marked := withRange(t, main, "execute_diffusion_2_64x64")
	right, wrong, _, _ = outcome(t, marked, [][]kernelCall{two, two},
		trace.Capture{Trace: capturing(t, rnd, one), Batch: 1}, trace.Capture{Trace: capturing(t, rnd, two), Batch: 4})
	if right != 2*len(two) {
		t.Errorf("by batch: %d right, %d wrong", right, wrong)
	}
}

// withRange puts one host range around a whole trace.
func withRange(t *testing.T, tr *trace.Trace, name string) *trace.Trace {
	out := *tr
	out.Annotations = []trace.Annotation{{Name: name, Start: 0, Dur: time.Hour}}
	if err := out.Check(); err != nil {
		t.Fatal(err)
	}
	return &out
}

// A capture of another model, or of the same model with other kernels in some places, is refused with its agreement.
func TestMergeCaptureRefuses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	net := network(rnd, 12, 20, "")
	other := append([]kernelCall(nil), net...)
	for i := range other {
		if i%12 == 3 {
			other[i].name += "_v2"
		}
	}
	main := replaying(t, rnd, net)
	for name, captured := range map[string][]kernelCall{"other model": network(rnd, 12, 20, "x"), "other version": other} {
		merged, match, err := trace.MergeCapture(main, trace.Capture{Trace: capturing(t, rnd, captured)})
		var mismatch *trace.CaptureMismatchError
		if !errors.As(err, &mismatch) || merged != nil || match != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if mismatch.Agreement >= 0.95 || mismatch.Graphs != 1 || mismatch.Replays != 1 || !strings.Contains(err.Error(), "%") {
			t.Errorf("%s: %+v", name, mismatch)
		}
	}
	var e *trace.CaptureMismatchError
	if _, _, err := trace.MergeCapture(main, trace.Capture{Trace: main}); !errors.As(err, &e) || e.Graphs != 0 {
		t.Errorf("capture without graphs: %v", err)
	}
}

// BL-52: without a capture, graph replays are named with what a capture would model.
func TestGraphWithoutCapture(t *testing.T) {
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	for i := range 2 {
		at, corr := time.Duration(i)*1_000_000, int64(9+i)
		b.Launch(trace.Launch{Name: "hipGraphLaunch", Start: at, Dur: 5000, Thread: th, Correlation: corr})
		b.GPU(trace.GPUEvent{Name: "gemm", Start: at + 10_000, Dur: 40_000, Correlation: corr})
		b.GPU(trace.GPUEvent{Name: "attn", Start: at + 60_000, Dur: 40_000, Correlation: corr})
		b.GPU(trace.GPUEvent{Name: "norm", Start: at + 110_000, Dur: 4_000, Correlation: corr})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"graph_without_capture": 6, "graph_idle": 2}
	got := make(map[string]int64)
	for _, d := range tr.Diagnostics {
		if strings.HasPrefix(d.Code, "graph_") {
			got[d.Code] = d.Count
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	if r := tr.GraphReplays(); len(r) != 2 || len(r[0].Events) != 3 {
		t.Errorf("replays: %+v", r)
	}
}

// Fifty replays cost little: operators are copied, their arguments are shared.
func TestMergeCaptureSharesInputs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 6))
	net := network(rnd, 20, 20, "")
	replays := make([][]kernelCall, 50)
	for i := range replays {
		replays[i] = net
	}
	merged, _, err := trace.MergeCapture(replaying(t, rnd, replays...), trace.Capture{Trace: capturing(t, rnd, net)})
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]*trace.Inputs)
	for i := range merged.Ops {
		if in := merged.Ops[i].Inputs; in != nil {
			key := fmt.Sprint(*in)
			if p, ok := values[key]; ok && p != in {
				t.Fatalf("two values for %s", key)
			}
			values[key] = in
		}
	}
}
