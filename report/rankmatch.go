package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// All ranks of a process group run its collectives in the same order, so the k-th call of a rank is the k-th of the others. A
// group whose ranks differ in the number or the names of their calls was not recorded whole and stays unmatched.

// A channelKey names calls that are in one order on all ranks.
type channelKey struct {
	group  string // name and ranks of the process group, "" when the kernels do not tell
	what   string // collectives, which all ranks of the group run, or messages from one to another
	stream int    // of the kernels that do not tell: the how manieth stream with such kernels, by its number
}

// What a channel consists of.
const (
	collectives = "collective"
	messages    = "message"
)

// A collectiveCall is one kernel of a collective on one rank.
type collectiveCall struct {
	name       string
	start, dur time.Duration // the clock's origin is that of the rank
	bytes      int64         // a rank sends, 0 when not recorded
	size       int           // ranks of the group, 0 when not recorded
}

func (c *collectiveCall) end() time.Duration { return c.start + c.dur }

// A party is one rank's side of a channel.
type party struct {
	index int // of the rank in the list that is compared
	calls []collectiveCall
}

// A channel is the calls of one group on all its ranks: calls of equal index are one collective.
type channel struct {
	key     channelKey
	parties []party
}

// matching is which calls of the ranks are the same.
type matching struct {
	channels  []*channel
	clocks    []clock // by index of the rank
	unmatched int
	doubts    []string
}

// match finds the common calls of ranks.
func match(list []*RankTrace) *matching {
	m := &matching{}
	keys := map[channelKey]bool{}
	for _, r := range list {
		if r.cut {
			m.doubts = append(m.doubts, fmt.Sprintf("The trace of rank %d ends too early: its figures are of the part that was read.", r.rank.Rank))
		}
		for k := range r.channels {
			keys[k] = true
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(x, y channelKey) int {
		return cmp.Or(strings.Compare(x.group, y.group), strings.Compare(x.what, y.what), cmp.Compare(x.stream, y.stream))
	}) {
		c := &channel{key: k}
		for i, r := range list {
			if calls := r.channels[k]; len(calls) > 0 {
				c.parties = append(c.parties, party{i, calls})
			}
		}
		m.admit(c, list)
	}
	if n := len(m.channels); n > 1 && m.channels[1].key.group == "" {
		m.doubts = append(m.doubts, "Kernels on several streams do not tell their groups: the streams of one rank are taken for those of another in the order of their numbers.")
	}
	m.align(len(list))
	for {
		c := m.apart()
		if c == nil {
			return m
		}
		m.channels = slices.DeleteFunc(m.channels, func(x *channel) bool { return x == c })
		m.reject(c, list, "with steady clocks, whatever their rates, they do not run at the same time")
		m.align(len(list))
	}
}

// admit takes a channel in if its ranks agree.
func (m *matching) admit(c *channel, list []*RankTrace) {
	first := c.parties[0].calls
	if len(c.parties) == 1 {
		m.reject(c, list, "no other rank that was given has them")
		return
	}
	if n := max(len(c.parties), first[0].size); c.key.what == messages && n > 2 {
		m.reject(c, list, fmt.Sprintf("messages pass between two of the %d ranks, and which two is not recorded", n))
		return
	}
	for _, p := range c.parties[1:] {
		if len(p.calls) != len(first) {
			m.reject(c, list, fmt.Sprintf("rank %d has %d, rank %d has %d", list[c.parties[0].index].rank.Rank, len(first),
				list[p.index].rank.Rank, len(p.calls)))
			return
		}
		for i := range first {
			if message(p.calls[i].name) != message(first[i].name) {
				m.reject(c, list, fmt.Sprintf("the %d. is %s on rank %d and %s on rank %d", i+1, first[i].name,
					list[c.parties[0].index].rank.Rank, p.calls[i].name, list[p.index].rank.Rank))
				return
			}
		}
	}
	m.channels = append(m.channels, c)
	if n := first[0].size; n > len(c.parties) {
		m.doubts = append(m.doubts, fmt.Sprintf("Of the %d ranks of group %s %d were given; the last to arrive may be another, so transfer is at most what is shown.",
			n, c.key, len(c.parties)))
	}
}

// message makes the two sides of a message one.
func message(name string) string {
	switch name {
	case "send", "recv":
		return "send or recv"
	}
	return name
}

func (m *matching) reject(c *channel, list []*RankTrace, why string) {
	n := 0
	for _, p := range c.parties {
		n += len(p.calls)
	}
	m.unmatched += n
	what := c.key.what + "s"
	if n == 1 {
		what = c.key.what
	}
	m.doubts = append(m.doubts, fmt.Sprintf("Not matched: %s %s of group %s on ranks %v; %s.", count(n), what, c.key, c.ranks(list), why))
}

// String names a channel for people.
func (k channelKey) String() string {
	if k.group == "" {
		return fmt.Sprintf("unknown (stream %d)", k.stream+1)
	}
	return strings.TrimSpace(k.group)
}

// ranks returns the ranks of a channel.
func (c *channel) ranks(list []*RankTrace) []int {
	var out []int
	for _, p := range c.parties {
		out = append(out, list[p.index].rank.Rank)
	}
	return out
}

func (c *channel) party(index int) *party {
	for i := range c.parties {
		if c.parties[i].index == index {
			return &c.parties[i]
		}
	}
	return nil
}

// mostApart is the share of calls that may contradict that they are the same ones.
const mostApart = 0.1

// apart returns the channel whose calls most clearly are not common ones: a collective cannot end anywhere before its last rank
// has begun. It is nil when there is none.
func (m *matching) apart() (worst *channel) {
	most := mostApart
	for _, c := range m.channels {
		n := 0
		for i := range c.parties[0].calls {
			if !c.together(i, m.clocks) {
				n++
			}
		}
		if s := float64(n) / float64(len(c.parties[0].calls)); s > most {
			worst, most = c, s
		}
	}
	return worst
}

// together tells whether all parties of the i-th call were in it at one time, as far as the clocks are known.
func (c *channel) together(i int, clocks []clock) bool {
	begun, ended := time.Duration(-1<<63), time.Duration(1<<63-1)
	for k := range c.parties {
		p := &c.parties[k]
		if clocks[p.index].known {
			begun = max(begun, clocks[p.index].common(p.calls[i].start))
			ended = min(ended, clocks[p.index].common(p.calls[i].end()))
		}
	}
	return ended == 1<<63-1 || begun <= ended+clockError
}
