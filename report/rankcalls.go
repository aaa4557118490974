package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// A lane is a stream of a device.
type lane struct {
	device int32
	stream int64
}

func (l lane) compare(o lane) int {
	return cmp.Or(cmp.Compare(l.device, o.device), cmp.Compare(l.stream, o.stream))
}

// collectiveCalls returns the collective kernels of the trace by channel, each by start, also those that an operator of another
// kind launches.
func (in *analysis) collectiveCalls() map[channelKey][]collectiveCall {
	kinds := kernelKinds{}
	calls, lanes := map[channelKey][]collectiveCall{}, map[lane][]collectiveCall{}
	for i := range in.instances {
		inst := &in.instances[i]
		for _, id := range inst.GPU {
			g := &in.trace.GPU[id]
			if g.Kind != trace.Kernel || kinds.of(g.Name) != perfmodel.Communication {
				continue
			}
			call := collectiveCall{name: g.Name, start: g.Start + in.trace.Header.BaseTime, dur: g.Dur}
			if inst.Work.Category == perfmodel.Communication && inst.Missing == nil && len(inst.GPU) == 1 {
				call.bytes = inst.Work.Bytes
			}
			key := call.describe(g, inst.Call.Inputs)
			if key.group == "" {
				l := lane{g.Device, g.Stream}
				lanes[l] = append(lanes[l], call)
			} else {
				calls[key] = append(calls[key], call)
			}
		}
	}
	for i, l := range slices.SortedFunc(maps.Keys(lanes), lane.compare) {
		calls[channelKey{what: collectives, stream: i}] = lanes[l]
	}
	for _, list := range calls {
		slices.SortStableFunc(list, func(x, y collectiveCall) int { return cmp.Compare(x.start, y.start) })
	}
	return calls
}

// describe takes what the profiler recorded of a collective, with the kernel or on the host, and returns its channel.
func (c *collectiveCall) describe(g *trace.GPUEvent, recorded *trace.Inputs) channelKey {
	key := channelKey{what: collectives}
	if g.Inputs != nil {
		recorded = g.Inputs
	}
	if recorded == nil {
		return key
	}
	if name := recorded.Extra["Collective name"]; name != "" {
		c.name = name
		fmt.Sscan(recorded.Extra["Group size"], &c.size)
		key.group = strings.TrimSpace(recorded.Extra["Process Group Name"] + " " + recorded.Extra["Process Group Ranks"])
		if key.group != "" && (name == "send" || name == "recv") {
			key.what = messages
		}
	}
	return key
}
