package split

import (
	"strings"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// A phaser decides the phase of events that belong to no step, by where they are launched: before the loop of an image,
// inside, behind. Names of kernels and operators only help; without them the place decides.
type phaser struct {
	t       *trace.Trace
	r       *Result
	o       *order
	imageOf []int32
	sig     []int32 // by position in o.ids
	n       int     // distinct signatures
}

func newPhaser(t *trace.Trace, r *Result, o *order, imageOf []int32) *phaser {
	p := &phaser{t: t, r: r, o: o, imageOf: imageOf}
	p.sig, p.n = o.signatures(o.ids), o.distinct
	return p
}

// fewKernels is how many kernels are too few to be a model of their own.
const fewKernels = 8

func (p *phaser) decide() {
	ids := p.o.ids
	if len(p.r.Steps) == 0 {
		p.set(0, len(ids), OtherPhase, 0)
		return
	}
	first, last := make([]int, len(p.r.Images)), make([]int, len(p.r.Images)) // positions of each image's loop
	for i := range first {
		first[i] = -1
	}
	for k, id := range ids {
		if s := p.r.StepOf[id]; s >= 0 {
			im := p.r.Steps[s].Image
			if first[im] < 0 {
				first[im] = k
			}
			last[im] = k + 1
		}
	}
	from, image := 0, 0
	loopEnd := -1 // of the image before
	for im := range first {
		if first[im] < 0 {
			continue
		}
		f := max(first[im], from) // loops of images whose launches overlap follow each other here
		if loopEnd < 0 {
			p.lead(from, f, im)
		} else {
			m := p.divide(from, f, first, loopEnd)
			p.tail(from, m, image)
			p.lead(m, f, im)
		}
		p.loop(f, last[im], im)
		from, loopEnd, image = max(last[im], from), last[im], im
	}
	p.tail(from, len(ids), image)
}

func (p *phaser) set(from, to int, name PhaseName, image int) {
	for k := from; k < to; k++ {
		p.r.PhaseOf[p.o.ids[k]], p.imageOf[p.o.ids[k]] = name, int32(image)
	}
}

// loop sets what lies between an image's first and last step.
func (p *phaser) loop(from, to, image int) {
	for k := from; k < to; k++ {
		id := p.o.ids[k]
		p.imageOf[id] = int32(image)
		p.r.PhaseOf[id] = BetweenSteps
		if p.r.StepOf[id] >= 0 {
			p.r.PhaseOf[id] = Denoise
		}
	}
}

// lead sets what an image launches before its loop: the text encoders, unless it is too little or an image encoder.
func (p *phaser) lead(from, to, image int) {
	m := p.stale(from, to)
	p.set(from, m, OtherPhase, image)
	name := TextEncode
	if p.kernels(m, to) < fewKernels || p.convolves(m, to) {
		name = OtherPhase
	}
	p.set(m, to, name, image)
}

// tail sets what follows the loop: the decoder, unless it is too little and does not convolve.
func (p *phaser) tail(from, to, image int) {
	name := VAEDecode
	if p.kernels(from, to) < fewKernels && !p.convolves(from, to) {
		name = OtherPhase
	}
	p.set(from, to, name, image)
}

// stale returns the end of the events that ran long before everything else: left over from a warm-up, or recorded before the
// profiler's window began.
func (p *phaser) stale(from, to int) int {
	if from > 0 || to == len(p.o.ids) {
		return from
	}
	end := lastEnd(p.t)
	for k := to; k > 0; k-- {
		a, b := &p.t.GPU[p.o.ids[k-1]], &p.t.GPU[p.o.ids[k]]
		if gap := b.Start - a.End(); gap > time.Second && gap > 10*(end-b.Start) {
			return k
		}
	}
	return from
}

func (p *phaser) kernels(from, to int) (n int) {
	for _, id := range p.o.ids[from:to] {
		if p.t.GPU[id].Kind == trace.Kernel {
			n++
		}
	}
	return n
}

// convolves reports whether convolutions and what goes with them take at least a fifth of the time, as far as names tell.
func (p *phaser) convolves(from, to int) bool {
	var conv, all time.Duration
	for _, id := range p.o.ids[from:to] {
		g := &p.t.GPU[id]
		all += g.Dur
		if convolution(g.Name) || g.Op >= 0 && convolution(p.t.Ops[g.Op].Name) {
			conv += g.Dur
		}
	}
	return all > 0 && 5*conv >= all
}

// convolution tells kernels and operators of convolutions and of the normalisation and resampling around them.
func convolution(name string) bool {
	for _, s := range [...]string{
		"conv", "Conv", "igemm", "im2col", "Im2d2Col", "im2d2col", "inograd", "group_norm", "groupnorm", "GroupNorm", "upsample",
		"cudnn", "miopen", "fprop",
	} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// product tells kernels of matrix products and of attention.
func product(name string) bool {
	if convolution(name) {
		return false
	}
	for _, s := range [...]string{
		"gemm", "Gemm", "GEMM", "gemv", "Cijk_", "matmul", "nvjet", "cutlass", "attn", "attention", "Attention", "flash", "fmha", "sdpa", "sage",
	} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// divide returns where, in the events between two images' loops, the one image's decoder ends and the other's encoders begin:
// the place that best parts signatures of what follows the last loop from those of what precedes the first.
func (p *phaser) divide(from, to int, first []int, loopEnd int) int {
	vote := make([]int8, p.n)
	lead := first[0]
	for _, s := range p.sig[:max(lead, 0)] {
		vote[s] = -1
	}
	end := 0
	for k := len(p.sig) - 1; k >= 0 && end == 0; k-- {
		if p.r.StepOf[p.o.ids[k]] >= 0 {
			end = k + 1
		}
	}
	for _, s := range p.sig[end:] {
		if vote[s] == 0 {
			vote[s] = 1
		} else if vote[s] < 0 {
			vote[s] = 2 // in both: it says nothing
		}
	}
	best, at, sum := 0, from, 0
	if lead <= 0 { // no encoders before the first loop: all of it is the decoder's, unless the decoder's end is known
		at = to
	}
	for k := from; k < to; k++ {
		if v := vote[p.sig[k]]; v != 2 {
			sum += int(v)
		}
		if sum > best {
			best, at = sum, k+1
		}
	}
	return at
}
