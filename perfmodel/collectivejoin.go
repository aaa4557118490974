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
	file int32
	key  Key
	ids  []ID
}

type (
	stream = channel[trace.GPUID, [2]int64] // by device and stream
	group  = channel[trace.OpID, string]    // by the group's name
)

// joinCollectives returns for each collective kernel without operator the record that it is of. Kernels of streams that fit no
// group, or more than one, are left out.
func joinCollectives(t *trace.Trace) map[trace.GPUID]trace.OpID {
	streams := orphanCollectives(t)
	if len(streams) == 0 {
		return nil
	}
	groups := recordedCollectives(t)
	joined := make(map[trace.GPUID]trace.OpID)
	for i := range streams {
		g := onlyGroup(t, streams, groups, i)
		if g == nil {
			continue
		}
		for k, kernel := range since(t, streams[i].ids, g.ids) {
			joined[kernel] = g.ids[k]
		}
	}
	return joined
}

// onlyGroup returns the group that fits a stream, nil when there is none, when another fits too, or when it fits another stream.
func onlyGroup(t *trace.Trace, streams []stream, groups []group, i int) (only *group) {
	for k := range groups {
		g := &groups[k]
		if !fits(t, &streams[i], g) {
			continue
		}
		if only != nil {
			return nil
		}
		only = g
		for other := range streams {
			if other != i && fits(t, &streams[other], g) {
				return nil
			}
		}
	}
	return only
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

func fits(t *trace.Trace, s *stream, g *group) bool {
	kernels := since(t, s.ids, g.ids)
	if s.file != g.file || len(kernels) != len(g.ids) {
		return false
	}
	for k, kernel := range kernels {
		if t.GPU[kernel].Start < t.Ops[g.ids[k]].Start {
			return false
		}
	}
	return true
}

// orphanCollectives returns the collective kernels that no operator launched and that say nothing of themselves, by stream.
func orphanCollectives(t *trace.Trace) (list []stream) {
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
			list = put(list, g.File, [2]int64{int64(g.Device), g.Stream}, trace.GPUID(i))
		}
	}
	return list
}

// recordedCollectives returns the host's records by process group.
func recordedCollectives(t *trace.Trace) (list []group) {
	for i := range t.Ops {
		op := &t.Ops[i]
		if op.Name != "record_param_comms" || op.Inputs == nil || op.Inputs.Extra["Collective name"] == "" {
			continue
		}
		list = put(list, fileOf(t, op.Thread), op.Inputs.Extra["Process Group Name"], trace.OpID(i))
	}
	for _, g := range list {
		slices.SortStableFunc(g.ids, func(a, b trace.OpID) int { return cmp.Compare(t.Ops[a].Start, t.Ops[b].Start) })
	}
	return list
}

func fileOf(t *trace.Trace, id trace.ThreadID) int32 {
	if id < 0 || int(id) >= len(t.Threads) {
		return 0
	}
	return t.Threads[id].File
}

// put adds an id to the channel of its key. There are few channels.
func put[ID ~int32, Key comparable](list []channel[ID, Key], file int32, key Key, id ID) []channel[ID, Key] {
	for i := range list {
		if list[i].key == key && list[i].file == file {
			list[i].ids = append(list[i].ids, id)
			return list
		}
	}
	return append(list, channel[ID, Key]{file, key, []ID{id}})
}
