package split_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// A scene describes a run of a diffusion pipeline; play makes its trace and the step of each GPU event.
type scene struct {
	seed       uint64
	images     int    // pipeline calls
	steps      int    // an image
	double     int    // blocks of the first kind
	single     int    // blocks of the second kind
	blockSize  int    // kernels of a block
	forwards   int    // passes a step
	guided     int    // with two passes: only the first so many steps have them, 0 for all
	cached     string // pattern of steps, "FFC" …, repeated; "" for none
	experts    int    // a copy of weights before this step, 0 for none
	text       int    // layers of the text encoder, 0 for no encoder
	textRuns   int    // how often it runs
	tiles      int    // VAE tiles; 0 for no decoder
	scheduler  int    // kernels of the scheduler
	prestep    int    // small kernels before the pass
	firstExtra int    // kernels that only the first step of an image launches, in its scheduler
	autotune   int    // foreign kernels in the first step
	syncCopy   bool
	graph      bool // passes are graph replays
	noise      float64
	noiseKinds int
	stream     bool // a second stream with copies at random times, not launched by the main thread
	hostless   bool // GPU events only
	markers    bool // denoise_step ranges
}

type event struct {
	sig   string
	dur   time.Duration
	step  int // -1
	noise bool
	graph int // id of the replay, 0 for eager
	copy  bool
}

type player struct {
	scene
	r     *rand.Rand
	ev    []event
	step  int
	count int
	graph int
	tune  int // kernels that the next pass tunes with
}

func (p *player) k(name string, us float64) {
	if p.noise > 0 && p.r.Float64() < p.noise {
		p.ev = append(p.ev, event{sig: fmt.Sprintf("stray_%d", p.r.IntN(max(1, p.noiseKinds))), dur: p.us(2), step: p.step, noise: true, graph: p.graph})
	}
	p.ev = append(p.ev, event{sig: name, dur: p.us(us), step: p.step, graph: p.graph})
}

func (p *player) us(us float64) time.Duration {
	return time.Duration(us * 1000 * (0.9 + 0.2*p.r.Float64()))
}

func (p *player) play() {
	steps := 0
	for range p.images {
		p.step = -1
		for range max(p.textRuns, 1) {
			p.encode()
		}
		if p.text > 0 {
			p.k("randn", 3)
			p.k("fill", 2)
			p.k("cat_small", 3)
		}
		for s := range p.steps {
			p.step = steps
			p.denoise(s)
			steps++
		}
		p.step = -1
		p.decode()
	}
	p.count = steps
}

func (p *player) encode() {
	if p.text == 0 {
		return
	}
	p.k("embedding", 5)
	p.k("ew_add", 3)
	for range p.text {
		for i := range 11 {
			p.k([]string{"t5_norm", "ew_mul", "t5_gemm_q", "t5_gemm_k", "t5_gemm_v", "t5_attn", "t5_gemm_o", "ew_add", "t5_gemm_up", "ew_gelu", "t5_gemm_down"}[i], 8)
		}
	}
	p.k("t5_norm", 4)
	p.k("ew_copy", 3)
}

func (p *player) denoise(s int) {
	if p.experts > 0 && s == p.experts {
		p.step = -1
		p.ev = append(p.ev, event{sig: "Memcpy HtoD", dur: 3 * time.Millisecond, step: -1, copy: true})
		p.step = p.lastStep() + 1
	}
	for i := range p.prestep {
		p.k(fmt.Sprintf("pre_%d", i), 2)
	}
	n := max(1, p.forwards)
	if p.guided > 0 && s >= p.guided {
		n = 1
	}
	for range n {
		p.forward(p.cached != "" && p.cached[s%len(p.cached)] == 'C')
	}
	if n > 1 {
		p.k("ew_sub", 3)
		p.k("guide_mul", 3)
		p.k("ew_add", 3)
	}
	if s == 0 {
		for i := range p.firstExtra {
			p.k(fmt.Sprintf("first_%d", i), 2)
		}
	}
	for i := range p.scheduler {
		p.k([]string{"ew_copy", "ew_add", "sched_mul", "sched_add", "ew_copy_back", "sched_round"}[i%6], 3)
	}
	if p.syncCopy {
		p.ev = append(p.ev, event{sig: "Memcpy DtoH", dur: p.us(2), step: p.step, copy: true})
	}
}

func (p *player) lastStep() int {
	for i := len(p.ev) - 1; i >= 0; i-- {
		if p.ev[i].step >= 0 {
			return p.ev[i].step
		}
	}
	return -1
}

func (p *player) forward(cached bool) {
	if p.scene.graph {
		p.count++
		p.graph = p.count
		defer func() { p.graph = 0 }()
	}
	for i, n := range []string{"timestep_embed", "ew_copy", "temb_gemm", "ew_silu", "temb_gemm2", "patch_embed", "pos_add"} {
		p.k(n, 4+float64(i))
		if i == 2 && p.tune > 0 {
			for j := range p.tune {
				p.k(fmt.Sprintf("autotune_%d", j), 20)
			}
			p.tune = 0
		}
	}
	if cached {
		p.block("double", 1)
		p.k("cache_l1", 6)
		p.k("cache_compare", 3)
		p.k("cache_add", 6)
	} else {
		p.block("double", p.double)
		if p.single > 0 {
			p.k("cat_streams", 10)
			p.block("single", p.single)
		}
	}
	for _, n := range []string{"final_norm", "ew_mul", "final_gemm", "unpatchify"} {
		p.k(n, 6)
	}
}

func (p *player) block(kind string, n int) {
	parts := []string{"norm", "mod", "gemm_q", "gemm_k", "gemm_v", "rope", "attn", "gemm_o", "gate", "norm2", "mod2", "gemm_up", "gelu", "gemm_down", "gate2"}
	for range n {
		for i := range p.blockSize {
			name := fmt.Sprintf("%s_%s_%d", kind, parts[i%len(parts)], i/len(parts))
			if i%5 == 4 {
				name = "ew_" + parts[i%len(parts)] // common kernels, shared by all kinds of blocks
			}
			us := 30.0
			if parts[i%len(parts)] == "attn" {
				us = 200
			}
			p.k(name, us)
		}
	}
}

func (p *player) decode() {
	if p.tiles == 0 {
		return
	}
	p.k("ew_mul", 3)
	p.k("ew_copy", 3)
	for range p.tiles {
		for i := range 5 {
			p.k("vae_conv", 60)
			p.k("vae_group_norm", 20)
			p.k("ew_silu", 10)
			if i%2 == 1 {
				p.k("vae_upsample_conv", 30)
			}
		}
		p.k("vae_conv_out", 30)
		p.k("ew_add", 5)
	}
	p.k("ew_clamp", 5)
	p.k("Memcpy_out", 5)
}

// trace lays the events out in time: launched by a host that runs ahead, run one after the other.
func (p *player) trace() (*trace.Trace, []int32, []bool) {
	t := &trace.Trace{Threads: []trace.Thread{{PID: 1, TID: 1}, {PID: 1, TID: 2}}}
	type made struct {
		g     trace.GPUEvent
		step  int32
		noise bool
	}
	var all []made
	host := 5 * time.Second
	gpu := host
	lastGraph := 0
	var launch trace.LaunchID = trace.None
	first, last := map[int]time.Duration{}, map[int]time.Duration{}
	for _, e := range p.ev {
		if e.graph == 0 || e.graph != lastGraph {
			host += time.Duration(3000+p.r.IntN(2000)) * time.Nanosecond
			if e.step >= 0 {
				if _, ok := first[e.step]; !ok {
					first[e.step] = host - time.Microsecond
				}
				last[e.step] = host + 2500*time.Nanosecond
			}
			if !p.hostless {
				launch = trace.LaunchID(len(t.Launches))
				l := trace.Launch{Name: "hipLaunchKernel", Start: host, Dur: 2 * time.Microsecond, Correlation: int64(len(t.Launches) + 1), Op: trace.None, Kind: trace.LaunchKernel}
				if e.graph > 0 {
					l.Name, l.Kind = "hipGraphLaunch", trace.LaunchGraph
				}
				t.Launches = append(t.Launches, l)
			}
		}
		lastGraph = e.graph
		gpu = max(gpu, host+4*time.Microsecond)
		g := trace.GPUEvent{Name: e.sig, Start: gpu, Dur: e.dur, RawDur: e.dur, Stream: 7, Launch: launch, Op: trace.None}
		if e.copy {
			g.Kind, g.Bytes = trace.Memcpy, 1<<20
		}
		if launch >= 0 {
			g.Correlation = t.Launches[launch].Correlation
			t.Launches[launch].GPU++
		}
		gpu += e.dur + 500*time.Nanosecond
		all = append(all, made{g, int32(e.step), e.noise})
	}
	if p.stream {
		for at := 5 * time.Second; at < gpu; at += time.Duration(100+p.r.IntN(400)) * time.Microsecond {
			all = append(all, made{trace.GPUEvent{Name: "side_copy", Start: at, Dur: p.us(20), Stream: 9, Launch: trace.None, Op: trace.None}, -1, true})
		}
	}
	slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.g.Start, b.g.Start) })
	truth, noise := make([]int32, len(all)), make([]bool, len(all))
	for i, m := range all {
		t.GPU = append(t.GPU, m.g)
		truth[i], noise[i] = m.step, m.noise
	}
	if p.markers {
		for s := range len(first) {
			t.Annotations = append(t.Annotations, trace.Annotation{Name: fmt.Sprintf("denoise_step_%d", s%p.steps), Start: first[s], Dur: last[s] - first[s]})
		}
	}
	return t, truth, noise
}

func (s scene) make() (*trace.Trace, []int32, []bool) {
	p := &player{scene: s, r: rand.New(rand.NewPCG(s.seed, 7))}
	p.tune = s.autotune
	p.play()
	return p.trace()
}

// agreement compares the steps with the truth: "exact" or what differs.
func agreement(r *split.Result, truth []int32, noise []bool) string {
	want := int32(0)
	for _, s := range truth {
		want = max(want, s+1)
	}
	if len(r.Steps) != int(want) {
		return fmt.Sprintf("%d steps, want %d", len(r.Steps), want)
	}
	wrong := 0
	for i := range truth {
		if !noise[i] && r.StepOf[i] != truth[i] {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Sprintf("%d events in wrong steps", wrong)
	}
	return "exact"
}

func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }

// randomScene draws a scene of the family.
func randomScene(family string, seed uint64) scene {
	r := rand.New(rand.NewPCG(seed, 1))
	s := scene{
		seed: seed, images: 1, steps: pick(r, 2, 3, 4, 8, 20, 28, 50), double: 1 + r.IntN(30), single: r.IntN(31), blockSize: 8 + r.IntN(20),
		forwards: 1, text: pick(r, 0, 6, 12, 24), textRuns: 1 + r.IntN(2), tiles: pick(r, 0, 1, 4, 12), scheduler: 2 + r.IntN(5), prestep: r.IntN(4),
		graph: r.IntN(5) == 0, hostless: r.IntN(3) == 0,
	}
	if s.steps*(s.double+s.single)*s.blockSize > 20000 {
		s.double, s.single = 1+s.double/6, s.single/6
	}
	switch family {
	case "small":
		s.double, s.single = 1+r.IntN(3), r.IntN(2)
		s.text, s.tiles = pick(r, 6, 12), pick(r, 1, 4)
	case "guided":
		s.forwards = 2
		if r.IntN(2) == 0 && s.steps > 3 {
			s.guided = 1 + r.IntN(s.steps-1)
		}
	case "cached":
		s.steps = pick(r, 8, 20, 28)
		s.double, s.single = max(2, s.double/2), s.single/2
		s.cached = pick(r, "FC", "FCC", "FFCFCCFCCF", "FFFCFCCFFC", "FFFFCCCC")
	case "experts":
		s.steps = pick(r, 8, 20)
		s.experts = 1 + r.IntN(s.steps-1)
		s.forwards = 2
		if r.IntN(2) == 0 {
			s.guided = s.experts
		}
	case "images":
		s.images = 2 + r.IntN(2)
		s.steps = pick(r, 2, 3, 4, 8)
		s.text, s.tiles = pick(r, 6, 12, 24), pick(r, 1, 4, 12)
	case "warmup":
		s.autotune, s.firstExtra = r.IntN(40), r.IntN(12)
		s.steps = max(3, s.steps)
		s.syncCopy = true
	case "noise":
		s.noise, s.noiseKinds, s.graph = 0.05, pick(r, 1, 3, 10, 1000), false
	case "stream":
		s.stream = true
	case "tiles":
		s.tiles, s.steps = 20+r.IntN(20), pick(r, 2, 3, 4)
	}
	return s
}

var families = []string{"plain", "small", "guided", "cached", "experts", "images", "warmup", "noise", "stream", "tiles"}
