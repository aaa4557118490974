package perfmodel_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// record adds the host's record of a collective of a group of 8 at a time in us.
func (s *scene) record(group string, at int, elements int) {
	s.t.Ops = append(s.t.Ops, trace.Op{Name: "record_param_comms", Parent: trace.None, Start: time.Duration(at) * time.Microsecond,
		Inputs: &trace.Inputs{Extra: map[string]string{"Collective name": "allreduce", "Process Group Name": group, "dtype": "BFloat16",
			"In msg nelems": strconv.Itoa(elements), "Out msg nelems": strconv.Itoa(elements), "Group size": "8"}}})
}

// collective adds an RCCL kernel that nothing links.
func (s *scene) collective(stream int64, at int) {
	g := s.kernel(trace.None, "ncclDevKernel_Generic_4", 3)
	s.t.GPU[g].Stream, s.t.GPU[g].Start = stream, time.Duration(at)*time.Microsecond
}

func TestCollectivesByOrder(t *testing.T) {
	const missing = -1
	for _, test := range []struct {
		name  string
		build func(s *scene)
		want  []int64 // bytes sent by each kernel: 2 · 7/8 of two bytes an element
	}{
		{"kernel by kernel", func(s *scene) {
			s.record("0", 0, 800)
			s.record("0", 10, 1600)
			s.collective(5, 20)
			s.collective(5, 30)
		}, []int64{2800, 5600}},
		{"a kernel from before the trace", func(s *scene) {
			s.record("0", 10, 800)
			s.collective(5, 5)
			s.collective(5, 20)
		}, []int64{missing, 2800}},
		{"two groups on two streams", func(s *scene) {
			s.record("0", 0, 800)
			s.record("1", 1, 1600)
			s.record("0", 2, 800)
			s.collective(5, 20)
			s.collective(6, 21)
			s.collective(5, 30)
		}, []int64{2800, 5600, 2800}},
		{"which group is not known", func(s *scene) {
			s.record("0", 0, 800)
			s.record("1", 1, 1600)
			s.collective(5, 20)
			s.collective(6, 21)
		}, []int64{missing, missing}},
		{"a record without kernel", func(s *scene) {
			s.record("0", 0, 800)
			s.record("0", 1, 800)
			s.collective(5, 20)
		}, []int64{missing}},
		{"a kernel before its record", func(s *scene) {
			s.record("0", 0, 800)
			s.record("0", 50, 800)
			s.collective(5, 20)
			s.collective(5, 30)
		}, []int64{missing, missing}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s scene
			test.build(&s)
			var got []int64
			for _, in := range perfmodel.Attribute(&s.t, perfmodel.Default()) {
				switch {
				case in.Work.Category != perfmodel.Communication:
					t.Errorf("%s is %s", in.Call.Name, in.Work.Category)
				case in.Missing != nil:
					got = append(got, missing)
				case in.Work.Certainty != perfmodel.Estimated || in.Op == trace.None:
					t.Errorf("operator %d, %v", in.Op, in.Work.Certainty)
				default:
					got = append(got, in.Work.Bytes)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// An operator that exchanges tokens for heads around its attention is neither: its collective speaks for itself alone.
func TestCollectiveBelowAnotherOperator(t *testing.T) {
	var s scene
	outer := s.op(trace.None, "my::ulysses", []int64{1, 16, 64, 64})
	s.attend(1, 16, 64, 64, 64, false, false)
	s.t.Ops[1].Parent = outer
	s.t.GPU[s.kernel(s.op(outer, "c10d::alltoall_base_", []int64{4096}, []int64{4096}), "ncclDevKernel_SendRecv", 500)].Inputs = &trace.Inputs{
		Extra: map[string]string{"Collective name": "all_to_all", "dtype": "BFloat16", "In msg nelems": "4096", "Out msg nelems": "4096", "Group size": "8"}}
	want := []row{
		{"aten::_scaled_dot_product_efficient_attention", "attention.sdpa_masked", []trace.GPUID{0}, []trace.GPUID{0}},
		{"c10d::alltoall_base_", "collective.recorded", []trace.GPUID{1}, []trace.GPUID{1}},
	}
	if d := cmp.Diff(want, rows(&s.t, perfmodel.Default())); d != "" {
		t.Error(d)
	}
}

// A kernel that names its collective needs no record, linked or not.
func TestCollectiveKernelsWithSizes(t *testing.T) {
	sizes := &trace.Inputs{Extra: map[string]string{"Collective name": "_allgather_base", "dtype": "BFloat16", "In msg nelems": "25136",
		"Out msg nelems": "201088", "Group size": "8"}}
	var s scene
	s.t.GPU[s.kernel(trace.None, "ncclDevKernel_AllGather_RING_LL", 5)].Inputs = sizes
	s.t.GPU[s.kernel(s.op(trace.None, "c10d::_allgather_base_", []int64{201088}, []int64{25136}), "ncclDevKernel_AllGather_RING_LL", 5)].Inputs = sizes
	s.t.GPU[s.kernel(s.op(trace.None, "my::gather", []int64{25136}), "ncclDevKernel_AllGather_RING_LL", 5)].Inputs = sizes
	for _, in := range perfmodel.Attribute(&s.t, perfmodel.Default()) {
		if in.Missing != nil || in.Work.Bytes != 201088*2*7/8 || in.Work.Certainty != perfmodel.Exact {
			t.Errorf("%s: %d bytes, %v, missing %v", in.Call.Name, in.Work.Bytes, in.Work.Certainty, in.Missing)
		}
	}
}
