package trace_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

const us = time.Microsecond

// owner names the operator of each GPU event, "" if it has none, and tells whether it has a launch.
func owners(t *trace.Trace) (out []string) {
	for i := range t.GPU {
		g, name := &t.GPU[i], ""
		if g.Op != trace.None {
			name = t.Ops[g.Op].Name
		}
		if g.Launch == trace.None {
			name += " (no launch)"
		}
		out = append(out, name)
	}
	return out
}

func TestLink(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"BL-45 correlation 0 and -1 are none", []string{
			op("c10d::allreduce_", 0, 5), runtimeCall("hipExtLaunchKernel", 1, 2, 0), runtimeCall("hipExtLaunchKernel", 2, 2, -1),
			kernel("ncclDevKernel_Generic_1", 0, 50, 1, 0), kernel("ncclDevKernel_Generic_1", 60, 50, 1, -1),
			kernel("ncclDevKernel_Generic_1", 120, 50, 1, 4294967295), kernel("ncclDevKernel_Generic_1", 180, 50, 1, "18446744073709551615"),
		}, []string{" (no launch)", " (no launch)", " (no launch)", " (no launch)"}},
		{"BL-46 half a flow", []string{
			op("triton_0", 9, 5), runtimeCall("hipDrvLaunchKernelEx", 10, 3, 77), kernel("k", 20, 5, 0, 77),
			`{"ph":"f","id":77,"pid":0,"tid":0,"ts":20,"cat":"ac2g","name":"ac2g","bp":"e"}`,
		}, []string{"triton_0"}},
		{"BL-48 External id is no join key", []string{
			op("aten::mm", 0, 20, `"External id":9`), op("aten::other", 30, 5, `"External id":1`), runtimeCall("hipLaunchKernel", 2, 3, 4),
			`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":40,"dur":5,"args":{"stream":0,"correlation":4,"External id":1}}`,
		}, []string{"aten::mm"}},
		{"BL-48 External id when there is no launch", []string{
			op("aten::mm", 0, 20, `"External id":9`), op("x", 30, 1, `"External id":8`), op("y", 40, 1, `"External id":8`),
			`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":40,"dur":5,"args":{"stream":0,"correlation":4,"External id":9}}`,
			`{"ph":"X","cat":"kernel","name":"twice","pid":0,"tid":0,"ts":50,"dur":5,"args":{"stream":0,"correlation":5,"External id":8}}`,
		}, []string{"aten::mm (no launch)", " (no launch)"}},
		{"BL-52 a graph launch owns many kernels", []string{
			op("region", 0, 30), runtimeCall("hipGraphLaunch", 1, 5, 9), runtimeCall("hipGraphLaunch", 11, 5, 10),
			kernel("gemm", 20, 40, 0, 9), kernel("attn", 60, 40, 0, 9), kernel("gemm", 110, 40, 0, 10), kernel("attn", 160, 40, 0, 10),
		}, []string{"region", "region", "region", "region"}},
		{"BL-55 launches of unknown name", []string{
			op("a", 0, 3), op("b", 3, 3), op("c", 6, 3),
			runtimeCall("hipExtModuleLaunchKernel", 0, 2, 1), runtimeCall("hipSomethingNew", 3, 2, 2), runtimeCall("cuLaunchKernelEx", 6, 2, 3),
			kernel("x", 20, 1, 0, 1), kernel("y", 30, 1, 0, 2), kernel("z", 40, 1, 0, 3),
		}, []string{"a", "b", "c"}},
		{"innermost operator, also behind a sibling", []string{
			op("outer", 0, 100), op("first", 10, 10), op("second", 20, 10), op("deep", 22, 5),
			runtimeCall("l", 20, 1, 1), runtimeCall("l", 23, 1, 2), runtimeCall("l", 28, 1, 3), runtimeCall("l", 50, 1, 4), runtimeCall("l", 100, 1, 5),
			kernel("1", 201, 1, 0, 1), kernel("2", 202, 1, 0, 2), kernel("3", 203, 1, 0, 3), kernel("4", 204, 1, 0, 4), kernel("5", 205, 1, 0, 5),
		}, []string{"second", "deep", "second", "outer", ""}},
		{"annotations and frames own nothing", []string{
			op("outer", 0, 100), annotation("range", 1, 50), runtimeCall("l", 2, 1, 1), kernel("k", 20, 1, 0, 1),
		}, []string{"outer"}},
		{"a shared correlation goes to the call of the right kind", []string{
			op("copy", 0, 10), op("gemm", 10, 10), runtimeCall("hipMemcpyAsync", 1, 1, 5), runtimeCall("hipLaunchKernel", 11, 1, 5), runtimeCall("hipStreamSynchronize", 15, 1, 5),
			kernel("k", 30, 1, 0, 5),
		}, []string{"gemm"}},
		{"another thread's operator does not own it", []string{
			`{"ph":"X","cat":"cpu_op","name":"elsewhere","pid":100,"tid":7,"ts":0,"dur":50}`, op("here", 0, 5), runtimeCall("l", 1, 1, 1), kernel("k", 20, 1, 0, 1),
		}, []string{"here"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := loadText(t, document(c.events...))
			if diff := cmp.Diff(c.want, owners(tr)); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			reversed := make([]string, len(c.events))
			for i, e := range c.events {
				reversed[len(reversed)-1-i] = e
			}
			if diff := cmp.Diff(strip(tr), strip(loadText(t, document(reversed...)))); diff != "" {
				t.Errorf("the order of events in the file matters (-forward +backward):\n%s", diff)
			}
		})
	}
}

// strip returns a copy without what differs between two files of the same events.
func strip(t *trace.Trace) *trace.Trace {
	c := *t
	c.Files = nil
	c.Header = trace.Header{}
	return &c
}

func TestBL45NoIDs(t *testing.T) {
	tr := loadText(t, document(kernel("ncclDevKernel_Generic_1", 0, 50, 1, 0), kernel("ncclDevKernel_Generic_1", 60, 50, 1, 0),
		runtimeCall("hipExtLaunchKernel", 1, 2, 29170)))
	if sum, _ := gpuTime(tr); sum != 100*us || count(tr, "unlinked_gpu_events") != 2 || count(tr, "launches_without_kernel") != 1 {
		t.Errorf("%v of GPU time, diagnostics %+v", sum, tr.Diagnostics)
	}
}

func TestBL09WideIDs(t *testing.T) {
	tr := loadText(t, document(
		kernel("k", 0, 10, "140589156634432", 1), kernel("k", 0, 10, "140588800255680", 2),
		kernel("k", 0, 10, "9007199254740993", 3), kernel("k", 0, 10, "9007199254740992", 4)))
	streams := map[int64]bool{}
	for i := range tr.GPU {
		streams[tr.GPU[i].Stream] = true
	}
	sum, union := gpuTime(tr)
	if len(streams) != 4 || sum != 40*us || union != 10*us {
		t.Errorf("%d streams, sum %v, union %v; want 4, 40us, 10us", len(streams), sum, union)
	}
}

func TestBL10ExactTimes(t *testing.T) {
	tr := loadText(t, document(op("p", "1700000000000000.114", "100.500"), op("c", "1700000000000040.310", "60.304"), op("d", "1700000000000100.620", "5.000")))
	got := map[string]trace.OpID{}
	for i := range tr.Ops {
		got[tr.Ops[i].Name] = tr.Ops[i].Parent
	}
	want := map[string]trace.OpID{"p": trace.None, "c": 0, "d": trace.None}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
	if gap := tr.Ops[2].Start - tr.Ops[1].End(); gap != 6*time.Nanosecond {
		t.Errorf("gap is %v, want 6ns", gap)
	}
}

func TestBL11OldSchema(t *testing.T) {
	tr := loadText(t, `[{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":"100","dur":"5","args":{"stream":7,"correlation":1,"external id":9}},
		{"ph":"B","name":"op","cat":"cpu_op","pid":1,"tid":1,"ts":90},{"ph":"B","name":"inner","cat":"Operator","pid":1,"tid":1,"ts":92.5,"args":{"external id":9}},
		{"ph":"E","pid":1,"tid":1,"ts":95},{"ph":"E","pid":1,"tid":1,"ts":99},
		{"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":"93","dur":1,"args":{"correlation":1,"external id":9}}]`)
	g := tr.GPU[0]
	if len(tr.GPU) != 1 || g.Stream != 7 || g.Dur != 5*us || g.ExternalID != 9 || tr.Ops[g.Op].Name != "inner" {
		t.Errorf("kernel is %+v", g)
	}
	if len(tr.Ops) != 2 || tr.Ops[0].Start != 90*us || tr.Ops[0].End() != 99*us || tr.Ops[1].Dur != 2500*time.Nanosecond || tr.Ops[1].Parent != 0 {
		t.Errorf("operators are %+v", tr.Ops)
	}
}

func TestBL13EmptyTrace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"window discarded", document(`{"ph":"M","name":"process_name","pid":100,"args":{"name":"python"}}`, runtimeCall("hipDeviceSynchronize", 10, 5, 1)), "no GPU events: no operator and no launch either: the profiler discarded its window, as a schedule without repeat=1 does when step() is called once too often"},
		{"CPU only", document(op("aten::mm", 0, 5)), "no GPU events: only CPU activity was recorded"},
		{"cut", document(op("aten::mm", 0, 5), runtimeCall("hipLaunchKernel", 1, 1, 1))[:180], "no GPU events: the file ends too early, before the GPU events, which profilers write last"},
		{"nothing could be read", document(kernel("k", "9e15", 5, 0, 1), op("aten::mm", "9e15", 5)), "no GPU events: 2 events could not be read, the first for this reason: the event is beyond the range of time"},
		{"no GPU event could be read", document(op("aten::mm", 0, 5), kernel("k", "9e15", 5, 0, 1)), "no GPU events: only CPU activity was recorded; or they are among the 1 events that could not be read"},
		{"no GPU activity", document(op("aten::mm", 0, 5), runtimeCall("hipLaunchKernel", 1, 1, 1)), "no GPU events: the host launched 1 times but no GPU activity was recorded: was it among the profiler's activities?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := trace.Diagnostic{Code: "empty_trace", Severity: trace.Error, Count: 1, Message: c.want}
			got := loadText(t, c.text).Diagnostics
			if diff := cmp.Diff(want, got[len(got)-1]); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBL36LaunchesWithoutKernel(t *testing.T) {
	var events []string
	for i := 1; i <= 9; i++ {
		events = append(events, runtimeCall("cudaLaunchKernel", i*10, 2, i))
		if i > 3 {
			events = append(events, kernel("k", i*10+5, 2, 0, i))
		}
	}
	events = append(events, runtimeCall("hipLaunchKernel", 150, 1, 0)) // without an id nobody knows
	events = append(events, runtimeCall("hipStreamBeginCapture", 200, 1, 20), runtimeCall("hipLaunchKernel", 210, 1, 21), runtimeCall("hipStreamEndCapture", 220, 1, 22))
	tr := loadText(t, document(events...))
	if n := count(tr, "launches_without_kernel"); n != 3 {
		t.Errorf("launches_without_kernel is %d, want 3: those into a captured graph do not count", n)
	}
}

func TestBL50ImpossibleDurations(t *testing.T) {
	tr := loadText(t, document(kernel("elt", 0, 3400000, 0, 1), kernel("gemm", 120, 80, 0, 2), kernel("attn", 210, 90, 0, 3),
		kernel("x", 400, 20, 1, 4), kernel("y", 415, 20, 1, 5)))
	got := map[string][2]time.Duration{}
	for i := range tr.GPU {
		got[tr.GPU[i].Name] = [2]time.Duration{tr.GPU[i].Dur, tr.GPU[i].RawDur}
	}
	want := map[string][2]time.Duration{"elt": {120 * us, 3400000 * us}, "gemm": {80 * us, 80 * us}, "attn": {90 * us, 90 * us}, "x": {20 * us, 20 * us}, "y": {20 * us, 20 * us}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
	if sum, union := gpuTime(tr); sum != 330*us || union != 325*us {
		t.Errorf("sum %v, union %v; want 330us, 325us", sum, union)
	}
	excess := trace.Diagnostic{Code: "impossible_durations", Severity: trace.Error, Count: 1,
		Message: "1 GPU events end more than 1ms after the next one on their queue began; cut there, 3399.880 ms left out, raw durations kept"}
	if !slices.Contains(tr.Diagnostics, excess) {
		t.Errorf("diagnostics: %+v", tr.Diagnostics)
	}
}

func TestBL53GPUAnnotationsAreNoWork(t *testing.T) {
	tr := loadText(t, document(annotation("denoising_step_0", 0, 100), gpuAnnotation("denoising_step_0", 50, 60, 0), gpuAnnotation("denoising_step_0", 55, 20, 1),
		kernel("k", 51, 5, 0, 0), `{"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":-1,"ts":60,"dur":4,"args":{"stream":-1,"correlation":24,"device":0}}`))
	if len(tr.GPU) != 1 || len(tr.Annotations) != 3 {
		t.Errorf("%d GPU events, %d annotations; want 1, 3", len(tr.GPU), len(tr.Annotations))
	}
}

func TestNestingJitter(t *testing.T) {
	tr := loadText(t, document(op("p", 0, 100), op("over", 50, "50.4"), op("crossing", "90.0", 100), op("after", 150, 10)))
	got := map[string]string{}
	for i := range tr.Ops {
		got[tr.Ops[i].Name] = ""
		if p := tr.Ops[i].Parent; p != trace.None {
			got[tr.Ops[i].Name] = tr.Ops[p].Name
		}
	}
	want := map[string]string{"p": "", "over": "p", "crossing": "", "after": "crossing"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
}

func TestClockSkewIsNoticed(t *testing.T) {
	var events []string
	for i := 1; i <= 4; i++ {
		events = append(events, runtimeCall("cudaLaunchKernel", i*100, 2, i), kernel("k", i*100-50, 2, 0, i))
	}
	tr := loadText(t, document(events...))
	if count(tr, "negative_launch_latency") != 4 || count(tr, "clock_skew") != 4 {
		t.Errorf("diagnostics: %+v", tr.Diagnostics)
	}
}

func TestGPUFacts(t *testing.T) {
	tr := loadText(t, document(
		`{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":2,"tid":5,"ts":1,"dur":0,"args":{"device":2,"stream":5,"correlation":3,"kind":"HtoD","bytes":200,"memory bandwidth (GB/s)":inf}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":2,"tid":5,"ts":2,"dur":1,"args":{"device":2,"stream":5,"correlation":4,"grid":[77, 1, 2],"block":[128,1,1]}}`,
		`{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":2,"tid":5,"ts":4,"dur":1}`,
		`{"ph":"X","cat":"kernel","name":"nccl","pid":2,"tid":6,"ts":6,"dur":1,"args":{"device":2,"stream":6,"Collective name":"all_to_allv","Group size":8,"In msg nelems":4096,"dtype":"BFloat16"}}`,
	))
	want := []trace.GPUEvent{
		{Name: "Memcpy HtoD (Host -> Device)", Start: 1 * us, Correlation: 3, Stream: 5, Bytes: 200, Device: 2, Kind: trace.Memcpy, Dir: trace.HostToDevice, Launch: trace.None, Op: trace.None},
		{Name: "k", Start: 2 * us, Dur: us, RawDur: us, Correlation: 4, Stream: 5, Device: 2, Grid: [3]uint32{77, 1, 2}, Block: [3]uint32{128, 1, 1}, Launch: trace.None, Op: trace.None},
		{Name: "Memset (Device)", Start: 4 * us, Dur: us, RawDur: us, Stream: 5, Device: 2, Kind: trace.Memset, Launch: trace.None, Op: trace.None},
		{Name: "nccl", Start: 6 * us, Dur: us, RawDur: us, Stream: 6, Device: 2, Launch: trace.None, Op: trace.None,
			Inputs: &trace.Inputs{Args: []trace.Arg{}, Extra: map[string]string{"Collective name": "all_to_allv", "Group size": "8", "In msg nelems": "4096", "dtype": "BFloat16"}}},
	}
	got := tr.GPU
	got[3].Inputs.Args = []trace.Arg{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GPU events (-want +got):\n%s", diff)
	}
}

func TestTwoFilesShareNoIDs(t *testing.T) {
	base := func(ns int64, events ...string) string {
		return fmt.Sprintf(`{"traceEvents":[%s,%s],"baseTimeNanoseconds":%d}`, events[0], events[1], ns)
	}
	a := write(t, "a.json", []byte(base(1000, runtimeCall("cudaLaunchKernel", 1, 1, 5), kernel("ka", 10, 1, 0, 5))))
	b := write(t, "b.json", []byte(base(3000, runtimeCall("cudaLaunchKernel", 1, 1, 5), kernel("kb", 10, 1, 0, 5))))
	tr := load(t, trace.LoadOptions{}, a, b)
	if len(tr.GPU) != 2 || tr.GPU[0].Launch == tr.GPU[1].Launch || tr.GPU[1].Start-tr.GPU[0].Start != 2*us {
		t.Errorf("GPU events are %+v", tr.GPU)
	}
}
