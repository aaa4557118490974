package split

import (
	"fmt"
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
	if f.blind {
		say(-0.6, "neither end of the loop tells where in what lies between steps the next one begins")
	}
	if f.alternate {
		say(-0.6, "every few boundaries hold work that others do not: a step may take several of these iterations")
	}
	if f.motley() {
		say(-0.6, "no two steps begin, or none end, with the same kernel: some boundaries may be off by a few")
	}
	if f.frayed {
		say(-0.6, "the kernels next to the steps follow each other within them too: a part of a step may be left out")
	}
	if f.unsteady() {
		say(-0.6, "the number of passes changes from step to step: these may be blocks")
	}
	if f.recurs() {
		say(-0.6, "what lies between steps lies within them as well: they may be several each")
	}
	inPlace, conv := f.decodes()
	if inPlace && 100*conv > f.time {
		say(-0.6, "each iteration convolves in one place: they may be images")
	}
	if f.unlike() {
		say(-0.6, "steps end and begin with unlike work: some boundaries may lie amid a pass")
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
	if behind, _ := f.behind(); !closed && !decoded && len(r.Steps) == 2 && f.products(behind) > 0 {
		say(-0.6, "two iterations, matrix products behind them and no decoder: they may be passes of an encoder")
	}
	if r.Requested > 0 && r.Requested*len(r.Images) == len(r.Steps) {
		say(0.4, "as many steps as were requested")
	}
	if f.spills() {
		say(-0.6, "work like that of the steps lies outside of them: %v", f.spilt)
	}
	if f.alien() {
		say(-0.6, "a step neither begins like others nor holds what they do")
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
	if f.alone(r) && !decoded && (f.holds || inPlace) {
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
