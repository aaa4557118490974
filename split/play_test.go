package split_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

type event struct {
	sig   string
	grid  uint32
	dur   time.Duration
	step  int // -1
	noise bool
	graph int // id of the replay, 0 for eager
	copy  bool
	side  bool // on the second stream

	device int32
	waits  int // for so many events before it, on whichever device
	pass   int // how many passes have begun
}

// A player plays a scene.
type player struct {
	scene
	r     *rand.Rand
	ev    []event
	step  int    // the running one
	at    int    // its number within the image
	grid  uint32 // of the kernels to come
	graph int
	ids   int // of graphs
	tune  int // kernels that the next pass tunes with

	device int32 // of the events to come
	waits  int   // for how many they wait
	begun  int   // passes
	ran    int   // blocks of the running pass
}

func (s scene) make() (t *trace.Trace, truth []int32, noise []bool) { return s.perform().trace() }

// perform plays the scene.
func (s scene) perform() *player {
	p := &player{scene: s, r: rand.New(rand.NewPCG(s.seed, 7)), tune: s.autotune, step: -1, grid: 1}
	switch s.other {
	case "decode":
		p.generate()
	case "training":
		p.train()
	case "encoder":
		p.encode()
	default:
		p.play()
	}
	p.cut()
	return p
}

func (p *player) k(name string, us float64) {
	if p.noise > 0 && p.r.Float64() < p.noise {
		p.emit(event{sig: fmt.Sprintf("stray_%d", p.r.IntN(max(1, p.noiseKinds))), dur: p.us(2), noise: true})
	}
	p.emit(event{sig: name, grid: p.grid, dur: p.us(us)})
}

func (p *player) copy(name string, d time.Duration) { p.emit(event{sig: name, dur: d, copy: true}) }

func (p *player) emit(e event) {
	e.step, e.graph = p.step, p.graph
	e.device, e.waits, e.pass = p.device, p.waits, p.begun
	p.ev = append(p.ev, e)
}

func (p *player) row(us float64, names ...string) {
	for _, n := range names {
		p.k(n, us)
	}
}

func (p *player) us(us float64) time.Duration {
	return time.Duration(us * 1000 * (0.9 + 0.2*p.r.Float64()))
}

func (p *player) play() {
	steps := 0
	for range p.images {
		p.step = -1
		p.before()
		for p.at = range p.steps {
			if p.experts > 0 && p.at == p.experts {
				p.step = -1
				p.copy("Memcpy HtoD", 3*time.Millisecond)
			}
			p.step = steps
			p.denoise()
			steps++
		}
		p.step = -1
		p.after()
	}
}

// on has the events to come run on a device when the first so many events have ended.
func (p *player) on(device int32, waits int) { p.device, p.waits = device, waits }

// before plays the encoders.
func (p *player) before() {
	if p.share == "encoders" {
		p.on(1, len(p.ev))
		defer func() { p.on(0, len(p.ev)) }()
	}
	for range p.image {
		p.row(30, "enc_conv", "enc_group_norm", "ew_silu")
	}
	if p.text == 0 {
		return
	}
	for range max(p.textRuns, 1) {
		p.row(4, "embedding", "ew_add")
		for range p.text {
			p.row(8, "t5_norm", "ew_mul", "t5_gemm_q", "t5_gemm_k", "t5_gemm_v", "t5_attn", "t5_gemm_o", "ew_add", "t5_gemm_up", "ew_gelu", "t5_gemm_down")
		}
		p.row(4, "t5_norm", "ew_copy")
	}
	p.row(3, "randn", "fill", "cat_small")
}

// after plays the decoder, tile by tile, and a checker of what it made.
func (p *player) after() {
	if p.tiles == 0 {
		return
	}
	if p.share == "decoder" {
		p.on(1, len(p.ev))
		defer func() { p.on(0, len(p.ev)) }()
	}
	p.row(3, "ew_mul", "ew_copy")
	for tile := range p.tiles {
		layers := 5
		if p.video && tile == 0 {
			layers = 3 // of one frame
		}
		if p.video {
			p.row(40, "vae_group_norm", "vae_gemm_qkv", "vae_attn", "vae_gemm_o", "ew_add")
		}
		for i := range layers {
			p.row(60, "vae_conv", "vae_group_norm", "ew_silu")
			if i%2 == 1 {
				p.k("vae_upsample_conv", 30)
			}
		}
		p.row(20, "vae_conv_out", "ew_add")
	}
	p.row(5, "ew_clamp", "Memcpy_out")
	for range p.safety {
		p.row(10, "clip_norm", "clip_gemm_qkv", "clip_attn", "clip_gemm_o", "ew_add", "clip_gemm_up", "ew_gelu", "clip_gemm_down")
	}
}

// denoise plays a step.
func (p *player) denoise() {
	for i := range p.prestep {
		p.k(fmt.Sprintf("pre_%d", i), 2)
	}
	if p.at == 0 {
		for i := range p.prelude { // behind nothing that other steps begin with it may as well lie before the loop
			p.emit(event{sig: fmt.Sprintf("prelude_%d", i), dur: p.us(2), noise: p.prestep == 0})
		}
	}
	passes := 1
	if p.passes != "" {
		passes = int(p.passes[min(p.at, len(p.passes)-1)] - '0')
	}
	begin := len(p.ev)
	for i := range passes {
		switch {
		case p.share == "passes":
			p.on(int32(i), begin)
		case p.share == "steps" && 2*p.at >= p.steps:
			p.on(1, len(p.ev))
		}
		p.forward(i == 2)
	}
	if p.share != "" {
		p.on(0, len(p.ev))
	}
	if passes > 1 {
		p.row(3, "ew_sub", "guide_mul", "ew_add")
	}
	if p.at == 0 {
		for i := range p.firstExtra {
			p.k(fmt.Sprintf("first_%d", i), 2)
		}
	}
	for i := range p.scheduler {
		p.k([]string{"ew_copy", "ew_add", "sched_mul", "sched_add", "ew_copy_back", "sched_round"}[i%6], 3)
	}
	for range p.syncs {
		p.copy("Memcpy DtoH", p.us(2))
	}
}

// forward plays one pass of the denoiser.
func (p *player) forward(perturbed bool) {
	p.begun, p.ran = p.begun+1, 0
	if p.scene.graph {
		p.ids++
		p.graph = p.ids
		defer func() { p.graph = 0 }()
	}
	p.grid = 2
	if p.halved > 0 && p.at >= p.halved {
		p.grid = 1
	}
	defer func() { p.grid = 1 }()
	if p.governed == 0 || p.at < p.governed {
		p.block("control", p.control)
	}
	for i, n := range []string{"timestep_embed", "ew_copy", "temb_gemm", "ew_silu", "temb_gemm2", "patch_embed", "pos_add"} {
		p.k(n, 4+float64(i))
		if i == 2 {
			p.autotune()
		}
	}
	kind := ""
	if p.at >= p.steps-p.refined {
		kind, p.grid = "refiner_", 3
	}
	double := kind + "double"
	if perturbed {
		double = kind + "perturbed"
	}
	switch hit := p.cached != "" && p.cached[p.at%len(p.cached)] != 'F'; {
	case p.unet:
		p.levels(double)
	case hit:
		if p.cached[p.at%len(p.cached)] == 'C' {
			p.block(double, 1)
		}
		p.row(6, "cache_l1", "cache_compare", "cache_add")
	default:
		p.block(double, p.double)
		if p.single > 0 {
			p.k("cat_streams", 10)
			p.block(kind+"single", p.single)
		}
	}
	if p.share == "layers" && p.seed%2 == 0 {
		p.move(0)
	}
	p.row(6, "final_norm", "ew_mul", "final_gemm", "unpatchify")
}

// move has the pass go on on a device.
func (p *player) move(device int32) {
	if p.device != device {
		p.copy("Memcpy PtoP", p.us(10))
		p.on(device, len(p.ev))
	}
}

func (p *player) autotune() {
	for j := range p.tune {
		for range 1 + p.r.IntN(6) {
			p.k(fmt.Sprintf("autotune_%d", j), 20)
		}
	}
	p.tune = 0
}

// levels plays a U-net: three levels down, up again, the lower two with blocks of attention.
func (p *player) levels(kind string) {
	grid := p.grid
	for i, level := range []uint32{0, 1, 2, 2, 1, 0} {
		p.grid = grid + 8*level
		for range 2 + i/3 {
			if i > 2 {
				p.k("cat", 10)
			}
			p.row(20, "unet_group_norm", "ew_silu", "unet_conv", "unet_group_norm", "ew_silu", "unet_conv", "ew_add")
			if level > 0 {
				p.block(kind, p.double)
			}
		}
		p.row(20, "resample", "unet_conv")
	}
	p.grid = grid
}

func (p *player) block(kind string, n int) {
	parts := []string{"norm", "mod", "gemm_q", "gemm_k", "gemm_v", "rope", "attn", "gemm_o", "gate", "norm2", "mod2", "gemm_up", "gelu", "gemm_down", "gate2"}
	for range n {
		if p.share == "layers" && 2*p.ran >= p.double+p.single {
			p.move(1)
		}
		p.ran++
		for i := range p.blockSize {
			part := parts[i%len(parts)]
			name := fmt.Sprintf("%s_%s_%d", kind, part, i/len(parts))
			us := 30.0
			switch {
			case i%5 == 4:
				name = "ew_" + part // common kernels, shared by all kinds of blocks
			case part == "attn":
				us = 200
			}
			if p.lanes && i%4 == 2 {
				p.emit(event{sig: name, grid: p.grid, dur: p.us(5), side: true})
				continue
			}
			p.k(name, us)
			if p.jitter > 0 && p.r.Float64() < p.jitter {
				p.k("ew_copy", 2)
			}
		}
	}
}

// encode plays encoders.
func (p *player) encode() {
	for range p.image {
		p.row(30, "enc_conv", "enc_group_norm", "ew_silu")
	}
	p.row(4, "embedding", "ew_add")
	p.block("t5", p.text)
	p.row(4, "t5_norm_0", "ew_mul", "ew_copy")
}

// generate plays a language model: a prefill and the decoding of some tokens.
func (p *player) generate() {
	pass := func(attention string) {
		p.row(5, "embedding")
		for range p.double + p.single {
			p.row(10, "rms_norm", "qkv_gemm", "rope", "reshape_and_cache_kernel", attention, "o_gemm", "rms_norm", "gate_up_gemm", "silu_mul", "down_gemm")
		}
		p.row(5, "rms_norm", "lm_head", "softmax", "top_p_sampling")
	}
	p.grid = 64
	pass("flash_fwd")
	p.grid = 1
	for range p.steps {
		pass("paged_attention_v2")
		for range p.syncs {
			p.copy("Memcpy DtoH", p.us(2))
		}
	}
}

// train plays some steps of training.
func (p *player) train() {
	for range p.steps {
		p.copy("Memcpy HtoD", p.us(20))
		for range p.double {
			p.row(10, "norm", "gemm_qkv", "attn_fwd", "gemm_o", "norm", "gemm_up", "gelu", "gemm_down")
		}
		p.row(5, "loss", "loss_backward")
		for range p.double {
			p.row(10, "gemm_down_dgrad", "gemm_down_wgrad", "gelu_backward", "gemm_up_dgrad", "gemm_up_wgrad", "norm_backward", "attn_bwd", "norm_backward")
		}
		for range 1 + p.single {
			p.k("multi_tensor_apply_kernel_adam", 20)
		}
	}
}

// cut drops what was not recorded of the first and the last step, and what lies beyond.
func (p *player) cut() {
	inside := func(step int, share float64) int {
		from := slices.IndexFunc(p.ev, func(e event) bool { return e.step == step })
		to := from
		for to < len(p.ev) && p.ev[to].step == step {
			to++
		}
		return from + int(share*float64(to-from))
	}
	if p.cutTail > 0 {
		p.ev = p.ev[:inside(p.images*p.steps-1, 1-p.cutTail)]
	}
	if p.cutHead > 0 {
		n := inside(0, p.cutHead)
		p.ev = p.ev[n:]
		for i := range p.ev {
			p.ev[i].waits = max(0, p.ev[i].waits-n)
		}
	}
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
	for _, e := range p.ev {
		if e.graph == 0 || e.graph != lastGraph {
			host += time.Duration(3000+p.r.IntN(2000)) * time.Nanosecond
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
		g := trace.GPUEvent{Name: e.sig, Grid: [3]uint32{e.grid, 1, 1}, Start: gpu, Dur: e.dur, RawDur: e.dur, Stream: 7, Launch: launch, Op: trace.None}
		if e.copy {
			g.Kind, g.Bytes = trace.Memcpy, 1<<20
		}
		if launch >= 0 {
			g.Correlation = t.Launches[launch].Correlation
			t.Launches[launch].GPU++
		}
		if e.side {
			g.Stream = 8
			gpu += 100 * time.Nanosecond
		} else {
			gpu += e.dur + 500*time.Nanosecond
		}
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
	return t, truth, noise
}
