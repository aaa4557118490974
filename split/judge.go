package split

import (
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// layer is how many kernels a layer of a model may well launch.
const layer = 32

// judge sets the confidence and its reasons.
func (f *finding) judge(t *trace.Trace, r *Result, o *order) {
	share := 0.0
	var steps, all time.Duration
	for _, s := range r.Steps {
		steps += s.GPUTime
	}
	for _, p := range r.Phases {
		all += p.GPUTime
	}
	if all > 0 {
		share = float64(steps) / float64(all)
	}
	conf := 0.5
	worst := 0.0
	say := func(by float64, format string, args ...any) {
		conf += by
		if by < worst {
			worst, f.doubt = by, fmt.Sprintf(format, args...)
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
	}
	closed, decoded := f.closed(), decoded(t, r)
	little := max(0, 0.5-share) // what speaks against steps that hold but a part
	if closed && decoded {
		little /= 4
	}
	say(0.3*min(share, 0.8)/0.8-0.1-little, "the steps hold %.1f %% of the GPU time", 100*share)
	alike := float64(len(r.Classes[commonest(r).ID].Steps)) / float64(len(r.Steps))
	say(0.1*alike, "%d of %d steps launch the same work", len(r.Classes[commonest(r).ID].Steps), len(r.Steps))
	if f.agree {
		say(0.1, "both ends of the loop agree on where a step begins")
	} else {
		say(0, "the ends of the loop do not agree on where a step begins")
	}
	if before, behind := f.goesOn(); before || behind {
		say(-0.6, "the loop goes on beyond the steps, to the end of the trace")
	}
	if f.torn {
		say(-0.6, "the steps begin amid blocks: where they truly begin is not known")
	}
	if f.unlike() {
		say(-0.5, "steps end and begin with unlike work: some boundaries may lie amid a pass")
	}
	if n := cached(r); 10*n > 9*len(r.Steps) {
		say(-0.4, "%d of %d steps launch but a part of what others do: they may be blocks of these", n, len(r.Steps))
	}
	switch {
	case f.replayed():
		say(-0.6, "several iterations come from one graph launch: they are parts of one pass")
	case f.loops:
		say(0.15, "each step is made of repeated blocks")
	case f.adjoined:
		say(-0.6, "no repeated blocks inside a step, and another loop follows at once: both may be layers of one pass")
	case closed && decoded && f.full >= layer/2:
		say(0.05, "no repeated blocks inside a step, but a decoder follows at once, as it does not follow layers")
	case f.full < layer:
		say(-0.45, "no repeated blocks inside a step of %d kernels: it may be the layers of one pass", f.full)
	case closed:
		say(-0.1, "no repeated blocks inside a step, but nothing follows that would be left of a pass")
	case f.alone(r):
		say(-0.45, "the repeated part holds no repeated blocks and stands alone: it may be the layers of one pass")
	case !decoded:
		say(-0.45, "no repeated blocks inside a step and no decoder behind: it may be the layers of one pass, or an encoder")
	default:
		say(-0.1, "no repeated blocks inside a step")
	}
	complete := 0
	for _, s := range r.Steps {
		if s.Complete {
			complete++
		}
	}
	if complete < 2 {
		say(-0.4, "fewer than two steps are complete")
	}
	if len(r.Steps) == 2 && share < 0.5 && !decoded {
		say(-0.4, "two iterations that hold less than half of the time, and no decoder behind: they may be passes of an encoder")
	}
	if len(r.Steps) == 2 && f.followed() {
		say(-0.5, "two iterations, and more matrix products behind them before a decoder: they may be passes of an encoder")
	}
	if r.Requested > 0 && r.Requested*len(r.Images) == len(r.Steps) {
		say(0.4, "as many steps as were requested")
	}
	if f.spills() {
		say(-0.6, "work like that of the steps lies outside of them: %v", f.spilt)
	}
	if 2*f.explained < f.time {
		say(-0.5, "most of what the steps hold recurs in no other")
	}
	if uneven(r) {
		say(-0.6, "the images have different numbers of steps")
	}
	if f.rivalled && !(closed && decoded && f.agree) {
		say(-0.45, "another loop elsewhere holds nearly as much GPU time")
	}
	if 2*len(r.Classes) > len(r.Steps) && len(r.Classes) > 2 {
		say(-0.4, "%d steps launch %d kinds of work: most are unlike any other", len(r.Steps), len(r.Classes))
	}
	if f.conv && f.period < 64 {
		say(-0.4, "the iterations are short and convolve: they may be tiles of a decoder")
	}
	if f.alone(r) && !decoded && (f.holds || f.decodes()) {
		say(-0.6, "the loop holds all the work, and in each iteration another one or a decoder: these may be images")
	} else if len(r.Phases) == 1 {
		say(-0.15, "nothing is launched before or after the loop that would tell what it is")
	}
	for _, d := range f.dissent {
		say(-0.3, "%s", d)
	}
	if why := speaksAgainst(t, r, o); why != "" {
		say(-0.6, "%s", why)
	}
	r.Confidence = max(0, min(1, conf))
}

// closed reports whether no matrix product follows the steps, though they hold some, before a decoder or the end of the trace. Layers of
// one pass are followed by the projection of what they made.
func (f *finding) closed() bool {
	last := f.pieces[len(f.pieces)-1]
	behind := f.lane[last.to:]
	if k := slices.IndexFunc(behind, func(id trace.GPUID) bool { return convolution(f.events[id].Name) }); k >= 0 {
		behind = behind[:k]
	} else if slices.ContainsFunc(behind, func(id trace.GPUID) bool { return f.events[id].Kind == trace.Kernel }) {
		return false // something is left of the pass
	} else if !last.whole && (f.full < layer || f.full > f.period) {
		return false
	}
	return f.products(f.lane[last.from:last.to]) > 0 && f.products(behind) == 0
}

// followed reports whether matrix products that take as long as half a step follow the steps before anything convolves.
func (f *finding) followed() bool {
	behind := f.lane[f.pieces[len(f.pieces)-1].to:]
	if k := slices.IndexFunc(behind, func(id trace.GPUID) bool { return convolution(f.events[id].Name) }); k >= 0 {
		behind = behind[:k]
	}
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

// decodes reports whether the steps convolve in one place of theirs: images hold a decoder, where a model that convolves does so all through
// its pass.
func (f *finding) decodes() bool {
	n := 0
	for _, p := range f.pieces {
		first, last := -1, -1
		for i := p.from; i < p.to; i++ {
			if convolution(f.events[f.lane[i]].Name) {
				if last = i; first < 0 {
					first = i
				}
			}
		}
		if first >= 0 && last-first >= fewKernels && 2*(last-first) < p.to-p.from {
			n++
		}
	}
	return 2*n > len(f.pieces)
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
