package trace

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// A merger finds the captured graph of each replay and copies its operators into the trace.
type merger struct {
	t        *Trace
	captures []Capture // the last is t itself
	words    *vocabulary
	replays  []GraphReplay
	keys     []string // of the sequence of each replay
	groups   map[string]*group
	regions  []*region
	best     float64 // largest agreement of any replay and region
	chosen   []choice
	match    CaptureMatch
}

// A group is the replays of one sequence, with what each acceptable region makes of it.
type group struct {
	sequence sequence
	found    []choice // acceptable, the best ones only
	count    int
	next     int // replays of the group that were given a region so far
}

// A choice is a region that explains a sequence. The zero value is none.
type choice struct {
	region  *region
	pairing pairing
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// collect lists the replays, groups them by their sequence and finds the captured graphs.
func (m *merger) collect() {
	m.replays = m.t.GraphReplays()
	m.match.Replays = len(m.replays)
	m.groups = make(map[string]*group)
	m.keys = make([]string, len(m.replays))
	for i, r := range m.replays {
		m.match.Events += len(r.Events)
		s := m.sequence(r)
		key := s.key()
		if m.groups[key] == nil {
			m.groups[key] = &group{sequence: s}
		}
		m.groups[key].count++
		m.keys[i] = key
	}
	for i, c := range m.captures {
		m.regions = append(m.regions, regions(c.Trace, i, m.words)...)
	}
}

// sequence reads the work of a replay as tokens.
func (m *merger) sequence(r GraphReplay) sequence {
	type lane struct {
		device int32
		stream int64
	}
	var s sequence
	index := make(map[lane]int)
	for i, id := range r.Events {
		g := &m.t.GPU[id]
		s.tokens = append(s.tokens, m.words.event(g))
		k, ok := index[lane{g.Device, g.Stream}]
		if !ok {
			k = len(s.streams)
			index[lane{g.Device, g.Stream}] = k
			s.streams = append(s.streams, nil)
		}
		s.streams[k] = append(s.streams[k], i)
	}
	return s
}

// key is equal for equal sequences.
func (s *sequence) key() string {
	var b []byte
	for _, x := range s.tokens {
		b = binary.AppendVarint(b, int64(x))
	}
	if len(s.streams) > 1 {
		for _, stream := range s.streams {
			b = binary.AppendVarint(b, -1)
			for _, i := range stream {
				b = binary.AppendVarint(b, int64(i))
			}
		}
	}
	return string(b)
}

// choose gives each replay the region that explains it best.
func (m *merger) choose() {
	for _, key := range sortedKeys(m.groups) {
		m.explain(m.groups[key])
	}
	m.explainCut()
	m.chosen = make([]choice, len(m.replays))
	launches := make([]LaunchID, len(m.replays))
	for i, r := range m.replays {
		launches[i] = r.Launch
	}
	around := contexts(m.t, launches)
	for i := range m.replays {
		g := m.groups[m.keys[i]]
		m.chosen[i] = m.decide(g, around[i])
		g.next++
	}
}

// explained tells whether any replay has an acceptable region.
func (m *merger) explained() bool {
	for _, g := range m.groups {
		if len(g.found) > 0 {
			return true
		}
	}
	return false
}

// explain tries all regions on a group and keeps the best, several if none is better. If some are exact the others, of which
// there may be hundreds, are not aligned.
func (m *merger) explain(g *group) {
	s := &g.sequence
	exact := func(r *region) bool {
		return len(s.streams) == 1 && len(r.nodes)-len(s.tokens) <= 1 && isPrefix(s.tokens, r.nodes)
	}
	anyExact := slices.ContainsFunc(m.regions, exact)
	for _, r := range m.regions {
		if anyExact && !exact(r) {
			continue
		}
		p := pair(s, r)
		m.best = max(m.best, p.agreement(s, r))
		if p.accepted(s, r) {
			g.found = append(g.found, choice{r, p})
		}
	}
	if len(g.found) == 0 {
		return
	}
	score := func(c choice) float64 { return c.pairing.agreement(s, c.region) }
	best := slices.MaxFunc(g.found, func(x, y choice) int { return cmp.Compare(score(x), score(y)) })
	g.found = slices.DeleteFunc(g.found, func(c choice) bool { return score(c) < score(best) })
}

// explainCut looks again at the last replay if nothing explains it and nothing ran after it: recording stopped in the middle.
// It may be the beginning of a graph that explains other replays.
func (m *merger) explainCut() {
	if len(m.replays) == 0 {
		return
	}
	last := len(m.replays) - 1
	g := m.groups[m.keys[last]]
	if len(g.found) > 0 || g.count > 1 || len(g.sequence.streams) > 1 || !m.endsStream(m.replays[last]) {
		return
	}
	whole := make(map[*region]bool)
	for _, other := range m.groups {
		for _, c := range other.found {
			whole[c.region] = true
		}
	}
	for _, r := range m.regions {
		if whole[r] && !r.wild() && isPrefix(g.sequence.tokens, r.nodes) {
			cut := r.first(m.captures[r.capture].Trace, m.words, len(g.sequence.tokens))
			g.found = append(g.found, choice{cut, pairPrefix(&g.sequence)})
		}
	}
}

// endsStream tells whether the work of a replay is the last of its stream.
func (m *merger) endsStream(r GraphReplay) bool {
	end := r.Events[len(r.Events)-1]
	device, stream := m.t.GPU[end].Device, m.t.GPU[end].Stream
	return !slices.ContainsFunc(m.t.GPU[end+1:], func(g GPUEvent) bool { return g.Device == device && g.Stream == stream })
}

// decide picks among regions that explain a replay equally well: one is enough if all are alike. Else the ranges and operators
// around the replay (its context) and the capture speak, then the batch size, then the order of pieces. If nothing speaks, none is
// picked: shapes would be guessed.
func (m *merger) decide(g *group, context map[string]bool) choice {
	list := g.found
	if len(list) == 0 {
		return choice{}
	}
	if alike(list) {
		return list[0]
	}
	list = keepBest(list, func(c choice) int {
		n := 0
		for name := range context {
			if c.region.context[name] {
				n++
			}
		}
		return n
	})
	if batch := batchOf(context); batch > 0 && !alike(list) {
		list = keepBest(list, func(c choice) int { return m.batchFit(c, batch) })
	}
	switch {
	case alike(list):
		return list[0]
	case m.inPieces(list) && g.count%len(list) == 0:
		return list[g.next%len(list)]
	}
	return choice{}
}

// alike tells whether all regions have the same operators with the same arguments.
func alike(list []choice) bool {
	return !slices.ContainsFunc(list, func(c choice) bool { return c.region.kind != list[0].region.kind })
}

func keepBest(list []choice, score func(choice) int) []choice {
	var kept []choice
	best := 0
	for i, c := range list {
		n := score(c)
		if i == 0 || n > best {
			kept, best = kept[:0], n
		}
		if n == best {
			kept = append(kept, c)
		}
	}
	return kept
}

// batchFit ranks captures by their batch size: a call is padded to the smallest captured size that holds it.
func (m *merger) batchFit(c choice, batch int) int {
	size := m.captures[c.region.capture].Batch
	if size < batch {
		return -1 << 30
	}
	return -size
}

// inPieces tells whether all regions are pieces of the forward that one capture recorded.
func (m *merger) inPieces(list []choice) bool {
	for _, c := range list {
		if c.region.capture != list[0].region.capture || !m.captures[c.region.capture].Piecewise {
			return false
		}
	}
	return true
}
