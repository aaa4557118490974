package split

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A bag is what a step launches: how often it launches each signature, by signature.
type bag []portion

type portion struct{ sig, count int32 }

func newBag(tok []int32) bag {
	s := slices.Clone(tok)
	slices.Sort(s)
	var b bag
	for _, x := range s {
		if n := len(b); n > 0 && b[n-1].sig == x {
			b[n-1].count++
		} else {
			b = append(b, portion{x, 1})
		}
	}
	return b
}

// hash returns a number that differs for bags that differ, but for chance (FNV-1a over the portions).
func (b bag) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, p := range b {
		h = (h ^ uint64(p.sig)<<32 ^ uint64(p.count)) * 1099511628211
	}
	return h
}

func (b bag) size() (n int) {
	for _, p := range b {
		n += int(p.count)
	}
	return n
}

// compare counts how many launches of b are missing in c, how many more c has of b's signatures, and how many of others.
func (b bag) compare(c bag) (missing, more, foreign int) {
	i := 0
	for _, p := range c {
		for i < len(b) && b[i].sig < p.sig {
			missing += int(b[i].count)
			i++
		}
		if i == len(b) || b[i].sig != p.sig {
			foreign += int(p.count)
			continue
		}
		missing += int(max(b[i].count-p.count, 0))
		more += int(max(p.count-b[i].count, 0))
		i++
	}
	for ; i < len(b); i++ {
		missing += int(b[i].count)
	}
	return missing, more, foreign
}

// like reports whether a step launches the same work as b: nearly all of it, hardly more of it, and whatever else (autotuning,
// copies) is no reason to tell them apart.
func (b bag) like(step bag) bool {
	missing, more, _ := b.compare(step)
	n := b.size()
	return 20*missing <= n && 10*more <= n
}

// times returns k if c launches about k times the work of b, 0 if there is no such number from 2 to 4.
func (b bag) times(c bag) int {
	n := b.size()
	if n == 0 {
		return 0
	}
	for k := int32(2); k <= 4; k++ {
		same, i := 0, 0
		for _, p := range b {
			for i < len(c) && c[i].sig < p.sig {
				i++
			}
			if i < len(c) && c[i].sig == p.sig && c[i].count == k*p.count {
				same += int(p.count)
			}
		}
		if 10*same >= 7*n {
			return int(k)
		}
	}
	return 0
}

// classify groups the steps by what they launch, commonest work first in the search and largest first in the result.
func classify(r *Result, o *order) {
	if len(r.Steps) == 0 {
		return
	}
	seqs := stepTokens(r, o)
	bags := make([]bag, len(seqs))
	for i, s := range seqs {
		bags[i] = newBag(s)
	}
	classes := group(r.Steps, bags)
	slices.SortStableFunc(classes, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(seqs[b[0]]), len(seqs[a[0]])), cmp.Compare(a[0], b[0]))
	})
	for id, steps := range classes {
		ref := steps[0]
		slices.Sort(steps)
		r.Classes = append(r.Classes, Class{ID: id, Steps: steps})
		for _, s := range steps {
			r.Steps[s].Class = id
		}
		countForwards(r, steps, seqs[ref])
	}
	relateForwards(r, bags)
	nameClasses(r)
}

// stepTokens returns what each step launches in launch order, as signatures.
func stepTokens(r *Result, o *order) [][]int32 {
	seqs := make([][]int32, len(r.Steps))
	for i := range seqs {
		seqs[i] = make([]int32, 0, r.Steps[i].Kernels)
	}
	for _, id := range o.ids {
		if s := r.StepOf[id]; s >= 0 {
			seqs[s] = append(seqs[s], o.sig[id])
		}
	}
	return seqs
}

// group returns the members of each class, the one that stands for it first. Complete steps come before cut ones, and work that
// occurs in several steps before work of one.
func group(steps []Step, bags []bag) [][]int {
	same := make([]int, len(steps)) // how many steps launch exactly the same
	equal := map[uint64][]int{}
	for i, b := range bags {
		h := b.hash()
		equal[h] = append(equal[h], i)
	}
	for _, e := range equal {
		for _, i := range e {
			same[i] = len(e)
		}
	}
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(rank(steps[a].Complete), rank(steps[b].Complete)), cmp.Compare(same[b], same[a]),
			cmp.Compare(steps[a].Kernels, steps[b].Kernels))
	})
	var classes [][]int
next:
	for _, i := range order {
		for k := range classes {
			if bags[classes[k][0]].like(bags[i]) {
				classes[k] = append(classes[k], i)
				continue next
			}
		}
		if !steps[i].Complete && len(classes) > 0 {
			k := closest(classes, bags, bags[i])
			classes[k] = append(classes[k], i)
			continue
		}
		classes = append(classes, []int{i})
	}
	return classes
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// closest returns the class of which a cut step launches least that the class does not.
func closest(classes [][]int, bags []bag, b bag) int {
	best, least := 0, -1
	for k, c := range classes {
		_, more, foreign := bags[c[0]].compare(b)
		if least < 0 || more+foreign < least {
			best, least = k, more+foreign
		}
	}
	return best
}

// countForwards sets the forward passes of steps that have none yet: how often a loop of loops runs in the sequence, if it
// makes up most of it.
func countForwards(r *Result, steps []int, tok []int32) {
	n := 1
	if r.Steps[steps[0]].Forwards == 0 {
		n = forwards(tok)
	}
	for _, s := range steps {
		if r.Steps[s].Forwards == 0 {
			r.Steps[s].Forwards = n
		}
	}
}

func forwards(tok []int32) int {
	distinct := 0
	before := make([]time.Duration, len(tok)+1)
	for i, s := range tok {
		distinct = max(distinct, int(s)+1)
		before[i+1] = time.Duration(i + 1) // launches stand for time: a class is told by what it launches
	}
	n := &nest{tok: tok, before: before}
	_ = n.findLevels(func() error { return nil }, distinct)
	for i := range n.levels {
		l := &n.levels[i]
		for _, g := range l.regions {
			if it := g.iterations(); l.loops && it < 4.3 && 5*(g.to-g.from) >= 4*len(tok) {
				return int(it + 0.5)
			}
		}
	}
	return 1
}

// relateForwards mends the count of classes that hold several times the work of another one.
func relateForwards(r *Result, bags []bag) {
	for i := range r.Classes {
		for j := range r.Classes {
			a, b := &r.Classes[i], &r.Classes[j]
			if 5*r.Steps[b.Steps[0]].Kernels < 7*r.Steps[a.Steps[0]].Kernels {
				continue // not twice most of it
			}
			k := bags[a.Steps[0]].times(bags[b.Steps[0]])
			if k == 0 {
				continue
			}
			f := r.Steps[a.Steps[0]].Forwards
			for _, s := range b.Steps {
				r.Steps[s].Forwards = max(r.Steps[s].Forwards, k*f)
			}
		}
	}
}

func nameClasses(r *Result) {
	full := r.Steps[r.Classes[0].Steps[0]]
	r.ForwardsPerStep = full.Forwards
	varied := false
	for _, c := range r.Classes {
		varied = varied || r.Steps[c.Steps[0]].Forwards != full.Forwards
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		s := r.Steps[c.Steps[0]]
		switch {
		case varied && (i == 0 || s.Forwards != full.Forwards):
			c.Name = fmt.Sprintf("%d forward%s", s.Forwards, plural(s.Forwards))
		case i == 0:
			c.Name = "full"
		case 10*s.Kernels < 9*full.Kernels:
			c.Name = "cached"
		default:
			c.Name = fmt.Sprintf("variant %d", i)
		}
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
