package perfmodel

import (
	"cmp"
	"slices"

	"github.com/ditlens/ditlens/trace"
)

// NCCL kernels carry their sizes. RCCL kernels carry nothing, and no launch has their correlation; but the host records each
// collective (record_param_comms) and a process group runs its collectives one after the other on a stream of its own. So the
// k-th kernel of a stream is the k-th record of a group, if their numbers agree and no kernel starts before its record.

const joinedInOrder = "the kernel names no collective: matched by order to the host's records"

// A channel is the collectives of one process group, or the kernels of one stream of a device, by start.
type channel[ID ~int32, Key comparable] struct {
	key Key
	ids []ID
}

// joinCollectives returns for each collective kernel without operator the record that it is of. Kernels of streams that fit no
// group, or more than one, are left out.
func joinCollectives(t *trace.Trace) map[trace.GPUID]trace.OpID {
	streams := orphanCollectives(t)
	if len(streams) == 0 {
		return nil
	}
	groups := recordedCollectives(t)
	joined := make(map[trace.GPUID]trace.OpID)
	for _, s := range streams {
		match := -1
		for i := range groups {
			if !fits(t, since(t, s.ids, groups[i].ids), groups[i].ids) {
				continue
			}
			if match >= 0 {
				match = -1
				break // two groups fit
			}
			match = i
		}
		if match < 0 || claimedTwice(t, streams, groups[match].ids) {
			continue
		}
		for k, g := range since(t, s.ids, groups[match].ids) {
			joined[g] = groups[match].ids[k]
		}
	}
	return joined
}

// claimedTwice reports whether more than one stream fits a group.
func claimedTwice(t *trace.Trace, streams []channel[trace.GPUID, [2]int64], records []trace.OpID) bool {
	n := 0
	for _, s := range streams {
		if fits(t, since(t, s.ids, records), records) {
			n++
		}
	}
	return n > 1
}

// since drops the kernels that start before the first record: their records precede the trace.
func since(t *trace.Trace, kernels []trace.GPUID, records []trace.OpID) []trace.GPUID {
	first := t.Ops[records[0]].Start
	i := 0
	for i < len(kernels) && t.GPU[kernels[i]].Start < first {
		i++
	}
	return kernels[i:]
}

func fits(t *trace.Trace, kernels []trace.GPUID, records []trace.OpID) bool {
	if len(kernels) != len(records) {
		return false
	}
	for k, g := range kernels {
		if t.GPU[g].Start < t.Ops[records[k]].Start {
			return false
		}
	}
	return true
}

// orphanCollectives returns the collective kernels that no operator launched and that say nothing of themselves, by stream.
func orphanCollectives(t *trace.Trace) []channel[trace.GPUID, [2]int64] {
	var list []channel[trace.GPUID, [2]int64]
	names := map[string]bool{}
	for i := range t.GPU {
		g := &t.GPU[i]
		if g.Kind != trace.Kernel || g.Op != trace.None || g.Inputs != nil {
			continue
		}
		is, known := names[g.Name]
		if !known {
			c, _ := classifyKernel(g.Name)
			is = c == Communication
			names[g.Name] = is
		}
		if is {
			list = file(list, [2]int64{int64(g.Device), g.Stream}, trace.GPUID(i))
		}
	}
	return list
}

// recordedCollectives returns the host's records by process group.
func recordedCollectives(t *trace.Trace) []channel[trace.OpID, string] {
	var list []channel[trace.OpID, string]
	for i := range t.Ops {
		op := &t.Ops[i]
		if op.Name != "record_param_comms" || op.Inputs == nil || op.Inputs.Extra["Collective name"] == "" {
			continue
		}
		list = file(list, op.Inputs.Extra["Process Group Name"], trace.OpID(i))
	}
	for _, g := range list {
		slices.SortStableFunc(g.ids, func(a, b trace.OpID) int { return cmp.Compare(t.Ops[a].Start, t.Ops[b].Start) })
	}
	return list
}

// file adds an id to the channel of its key. There are few channels.
func file[ID ~int32, Key comparable](list []channel[ID, Key], key Key, id ID) []channel[ID, Key] {
	for i := range list {
		if list[i].key == key {
			list[i].ids = append(list[i].ids, id)
			return list
		}
	}
	return append(list, channel[ID, Key]{key, []ID{id}})
}
