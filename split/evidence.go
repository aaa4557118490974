package split

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// closed reports whether no matrix product follows the steps, though they hold some, before a decoder or the end of the trace. Layers of
// one pass are followed by the projection of what they made.
func (f *finding) closed() bool {
	last := f.pieces[len(f.pieces)-1]
	behind, decoder := f.behind()
	switch {
	case decoder:
	case slices.ContainsFunc(behind, func(id trace.GPUID) bool { return f.events[id].Kind == trace.Kernel }):
		return false // something is left of the pass
	case !last.whole && (f.full < layer || f.full > f.period):
		return false
	}
	return f.products(f.lane[last.from:last.to]) > 0 && f.products(behind) == 0
}

// behind returns what follows the steps up to the first convolution, and whether there is one.
func (f *finding) behind() (ids []trace.GPUID, decoder bool) {
	ids = f.lane[f.pieces[len(f.pieces)-1].to:]
	k := slices.IndexFunc(ids, func(id trace.GPUID) bool { return convolution(f.events[id].Name) })
	if k < 0 {
		return ids, false
	}
	return ids[:k], true
}

// followed reports whether matrix products that take as long as half a step follow the steps before anything convolves.
func (f *finding) followed() bool {
	behind, _ := f.behind()
	return 2*f.products(behind)*time.Duration(len(f.pieces)) >= f.time
}

// products returns the GPU time of matrix products, as far as names tell.
func (f *finding) products(ids []trace.GPUID) (sum time.Duration) {
	for _, id := range ids {
		if product(f.events[id].Name) {
			sum += f.events[id].Dur
		}
	}
	return sum
}

// cached returns how many steps are cached forms of others.
func cached(r *Result) (n int) {
	for _, c := range r.Classes {
		if c.Name == "cached" {
			n += len(c.Steps)
		}
	}
	return n
}

// uneven reports whether images differ in their steps; the first and the last of a trace may be cut.
func uneven(r *Result) bool {
	for i := 1; i < len(r.Images); i++ {
		a, b := r.Images[i-1].Steps, r.Images[i].Steps
		if i == 1 && a < b && !r.Steps[0].Complete || i == len(r.Images)-1 && b < a && !r.Steps[len(r.Steps)-1].Complete {
			continue
		}
		if a != b {
			return true
		}
	}
	return false
}

// decoded reports whether convolutions follow the steps, as far as names tell: a decoder.
func decoded(t *trace.Trace, r *Result) bool {
	var conv, all time.Duration
	for i := range t.GPU {
		if r.PhaseOf[i] == VAEDecode {
			all += t.GPU[i].Dur
			if convolution(t.GPU[i].Name) {
				conv += t.GPU[i].Dur
			}
		}
	}
	return all > 0 && 5*conv > all
}

// decodes reports whether the steps convolve in one place or at both ends only, and how long: images hold an encoder and a decoder, where a model
// that convolves does so all through its pass.
func (f *finding) decodes() (inPlace bool, conv time.Duration) {
	n := 0
	for _, p := range f.pieces {
		first, last, longest := -1, -1, 0 // places that convolve, and the longest stretch between two that does not
		for i := p.from; i < p.to; i++ {
			if e := &f.events[f.lane[i]]; convolution(e.Name) {
				conv += e.Dur
				if first < 0 {
					first = i
				} else {
					longest = max(longest, i-last)
				}
				last = i
			}
		}
		if first >= 0 && last-first >= fewKernels {
			around := p.to - p.from - (last - first)
			n += rank(2*max(longest, around) > p.to-p.from)
		}
	}
	return 2*n > len(f.pieces), conv
}

// inOnePlace reports whether what is told by is, among positions [from, to), spans more than a few of them and less than half.
func inOnePlace(from, to int, is func(i int) bool) bool {
	first, last := -1, -1
	for i := from; i < to; i++ {
		if is(i) {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	return first >= 0 && last-first >= fewKernels && 2*(last-first) < to-from
}

// replayed reports whether most steps begin inside the graph launch in which the one before ended.
func (f *finding) replayed() bool {
	n := 0
	for i := 1; i < len(f.pieces); i++ {
		a, b := f.events[f.lane[f.pieces[i].from-1]].Launch, f.events[f.lane[f.pieces[i].from]].Launch
		if a >= 0 && a == b {
			n++
		}
	}
	return 2*n > len(f.pieces)
}

// goesOn reports whether all that precedes the first step is as what precedes the second, or all that follows the last as what follows the
// one before it.
func (f *finding) goesOn() (before, behind bool) {
	same := func(a, b []trace.GPUID) bool {
		return slices.EqualFunc(a, b, func(a, b trace.GPUID) bool { return signatureOf(&f.events[a]) == signatureOf(&f.events[b]) })
	}
	first, second := f.pieces[0].from, f.pieces[1].from
	last, penultimate := f.pieces[len(f.pieces)-1].to, f.pieces[len(f.pieces)-2].to
	n := len(f.lane) - last
	before = first >= fewKernels && same(f.lane[:first], f.lane[second-first:second])
	behind = n >= fewKernels && penultimate+n <= len(f.lane) && same(f.lane[last:], f.lane[penultimate:penultimate+n])
	return before, behind
}

// alone reports whether there is next to no work outside the loop.
func (f *finding) alone(r *Result) bool {
	outside := 0
	for i := range r.PhaseOf {
		if p := r.PhaseOf[i]; p == TextEncode || p == VAEDecode || p == OtherPhase {
			outside++
		}
	}
	return outside < max(3*fewKernels, min(f.period, 6*fewKernels))
}

// unlike reports whether some steps end with work that has little in common with that of most others, or begin, behind another of their image, with
// work that has nothing in common with it: their boundaries lie elsewhere in a pass.
func (f *finding) unlike() bool {
	const reach = 3 // kernels
	sig, _ := f.named()
	var ends, begins [][]int32
	for i := 1; i < len(f.pieces); i++ {
		if p, q := f.pieces[i-1], f.pieces[i]; p.image == q.image {
			ends = append(ends, distinct(sig[max(p.from, p.to-reach):p.to]))
			begins = append(begins, distinct(sig[q.from:min(q.from+2*reach, q.to)]))
		}
	}
	return likeness(ends) < 0.5 || likeness(begins) == 0
}

// motley reports whether no two steps begin with the same kernel or variants of one, or none end so.
func (f *finding) motley() bool {
	var begins, ends []string
	for _, p := range f.pieces {
		if p.from < p.to {
			begins = append(begins, f.events[f.lane[p.from]].Name)
			ends = append(ends, f.events[f.lane[p.to-1]].Name)
		}
	}
	return allDiffer(begins) || allDiffer(ends)
}

// allDiffer reports whether no two names are of one kernel or variants of one. Among many some always are.
func allDiffer(names []string) bool {
	const many = 8
	if len(names) > many {
		return false
	}
	for i, a := range names {
		if slices.ContainsFunc(names[:i], func(b string) bool { return a == b || variantsOf(a, b) }) {
			return false
		}
	}
	return true
}

// likeness returns the least share that a sorted set has in common with the commonest one.
func likeness(sets [][]int32) float64 {
	if len(sets) == 0 {
		return 1
	}
	count := map[string]int{}
	for _, w := range sets {
		count[fmt.Sprint(w)]++
	}
	usual := slices.MaxFunc(sets, func(a, b []int32) int { return cmp.Compare(count[fmt.Sprint(a)], count[fmt.Sprint(b)]) })
	least := 1.0
	for _, w := range sets {
		same := 0
		for _, s := range w {
			_, found := slices.BinarySearch(usual, s)
			same += rank(found)
		}
		least = min(least, float64(same)/float64(max(1, min(len(w), len(usual)))))
	}
	return least
}

// alien reports whether a step neither begins like any other nor launches, for half of its time, what others do.
func (f *finding) alien() bool {
	const reach = 3 // kernels
	sig, n := f.named()
	in, last := make([]int, n), make([]int, n) // in how many steps a name occurs, and 1 + the last of these
	begin := map[int32]int{}
	for k, p := range f.pieces {
		for i := p.from; i < p.to; i++ {
			if s := sig[i]; last[s] <= k {
				in[s], last[s] = in[s]+1, k+1
			}
		}
		for _, s := range distinct(sig[p.from:min(p.from+reach, p.to)]) {
			begin[s]++
		}
	}
	for k, p := range f.pieces {
		if k == 0 && !p.whole {
			continue
		}
		var own, all time.Duration
		for i := p.from; i < p.to; i++ {
			d := f.events[f.lane[i]].Dur
			if all += d; in[sig[i]] == 1 {
				own += d
			}
		}
		alike := 0
		for _, s := range distinct(sig[p.from:min(p.from+reach, p.to)]) {
			alike += rank(begin[s] > 1)
		}
		if 2*own > all && alike < 2 {
			return true
		}
	}
	return false
}

// recurs reports whether what lies around most boundaries lies within steps as well: a step may then be several.
func (f *finding) recurs() bool {
	const reach = 3 // kernels
	type window [2 * reach]int32
	sig, _ := f.named()
	around := func(at int) (w window) {
		if at >= reach && at+reach <= len(sig) {
			copy(w[:], sig[at-reach:at+reach])
		}
		return w
	}
	var usual window
	count := map[window]int{}
	for i := 1; i < len(f.pieces); i++ {
		if p, q := f.pieces[i-1], f.pieces[i]; p.image == q.image {
			w := around(q.from)
			if count[w]++; count[w] > count[usual] {
				usual = w
			}
		}
	}
	inside := 0
	for _, p := range f.pieces {
		for at := p.from + 2*reach; at < p.to-2*reach; at++ {
			inside += rank(around(at) == usual)
		}
	}
	return len(count) > 0 && 3*inside >= len(f.pieces)
}

// unsteady reports whether the number of passes changes again and again from step to step. Guidance sets in and ends.
func (f *finding) unsteady() bool {
	changes, images := 0, 1
	for i := 1; i < len(f.pieces); i++ {
		p, q := f.pieces[i-1], f.pieces[i]
		switch {
		case p.image != q.image:
			images++
		case p.whole && q.whole:
			changes += rank(p.passes != q.passes)
		}
	}
	return changes > 3*images
}

// tears reports whether half of the steps or more begin amid blocks: where only kernels stand that occur again and again in a pass. A step begins and
// ends with what its blocks do not launch.
func (n *nest) tears(pieces []piece) bool {
	const often = 3 // times in a pass
	torn := 0
	count := map[int32]int{}
	for i := 1; i < len(pieces); i++ {
		p, at := pieces[i-1], pieces[i].from
		clear(count)
		for _, s := range n.tok[p.from:p.to] {
			count[s]++
		}
		around := n.tok[max(p.from, at-fewKernels):min(pieces[i].to, at+fewKernels)]
		torn += rank(!slices.ContainsFunc(around, func(s int32) bool { return count[s] < often*p.passes }))
	}
	return torn > 0
}

// splits reports whether half of the steps or more, in units, begin behind a run of blocks: a step ends with what makes an output of that.
func (f *folded) splits(pieces []piece) bool {
	split := 0
	for _, p := range pieces[1:] {
		split += rank(int(f.tok[p.from-1]) >= f.n-len(f.levels))
	}
	return split > 0 && 2*split >= len(pieces)-1
}

// adjoins reports whether a loop that does not convolve begins at a position, or a few kernels behind.
func (n *nest) adjoins(at int) bool {
	for i := range n.levels {
		l := &n.levels[i]
		for _, r := range l.regions {
			if l.lag < 2 || r.iterations() < 2.5 || r.from < at-l.lag/2 || r.from > at+2*fewKernels {
				continue
			}
			var conv time.Duration
			for k := r.from; k < r.to; k++ {
				if s := int(n.tok[k]); s < len(n.conv) && n.conv[s] {
					conv += n.before[k+1] - n.before[k]
				}
			}
			if 5*conv < n.before[r.to]-n.before[r.from] {
				return true
			}
		}
	}
	return false
}

// spills reports whether work like that of the steps lies outside: more than a fifth of a step.
func (f *finding) spills() bool { return 5*f.spilt*time.Duration(len(f.pieces)) > f.time }

// frays reports whether the kernels next to the steps, before the first or behind the last, follow each other within steps too.
func (f *finding) frays() bool {
	const reach = 3 // kernels
	type stretch [reach]int32
	sig, _ := f.named()
	known := map[stretch]bool{}
	at := func(i int) (s stretch) {
		copy(s[:], sig[i:i+reach])
		return s
	}
	for _, p := range f.pieces {
		for i := p.from; i+reach <= p.to; i++ {
			known[at(i)] = true
		}
	}
	from, to := f.pieces[0].from, f.pieces[len(f.pieces)-1].to
	return from >= reach && known[at(from-reach)] || to+reach <= len(sig) && known[at(to)]
}

// spill returns the GPU time outside the steps of stretches of kernels that by name are stretches of theirs.
func (f *finding) spill() (sum time.Duration) {
	const stretch = 8
	if len(f.lane) < stretch {
		return 0
	}
	sig, _ := f.named()
	inside := make([]bool, len(f.lane))
	for _, p := range f.pieces {
		for i := p.from; i < p.to; i++ {
			inside[i] = true
		}
	}
	const base = 1099511628211 // of a rolling hash of the last kernels
	var drop uint64 = 1
	for range stretch {
		drop *= base
	}
	hashes := make([]uint64, len(f.lane))
	var h uint64
	for i, s := range sig {
		h = h*base + uint64(s) + 1
		if i >= stretch {
			h -= drop * (uint64(sig[i-stretch]) + 1)
		}
		hashes[i] = h
	}
	theirs := map[uint64]bool{}
	for _, p := range f.pieces {
		for i := p.from + stretch - 1; i < p.to; i++ {
			theirs[hashes[i]] = true
		}
	}
	done := 0
	for i := stretch - 1; i < len(f.lane); i++ {
		if inside[i] || inside[i-stretch+1] || !theirs[hashes[i]] {
			continue
		}
		for k := max(done, i-stretch+1); k <= i; k++ {
			sum += f.events[f.lane[k]].Dur
		}
		done = i + 1
	}
	return sum
}
