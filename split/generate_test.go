package split_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ditlens/ditlens/split"
)

// A scene describes a run of a diffusion pipeline, or of something else that repeats; play makes its trace and the step of each GPU event.
type scene struct {
	seed   uint64
	other  string // what it is instead of denoising in steps: "decode", "training", "encoder", "pass"
	images int    // pipeline calls
	steps  int    // an image

	// the denoiser
	double    int  // blocks of the first kind
	single    int  // blocks of the second kind
	blockSize int  // kernels of a block
	unet      bool // blocks stand between convolutions and differ in shape from level to level
	control   int  // blocks of a ControlNet before each pass
	governed  int  // only the first so many steps have the ControlNet, 0 for all
	graph     bool // passes are graph replays

	// the loop
	passes     string // of each step, a digit; that of the last goes on; the third of a step runs without attention; "" for one
	cached     string // which blocks a step runs: F all, C the first, S none; repeated; "" for all
	halved     int    // from this step on guidance is off and with it half of the batch: grids are half as large; 0 for never
	experts    int    // a copy of weights before this step, 0 for none
	refined    int    // the last so many steps are of a second model
	scheduler  int    // kernels of the scheduler
	prestep    int    // small kernels before the pass
	prelude    int    // kernels that only the first step of an image launches, in its head
	firstExtra int    // and in its scheduler
	autotune   int    // foreign kernels in the first pass, each tried a few times
	syncs      int    // copies to the host that a step waits for
	jitter     float64

	// around the loop
	image    int // layers of an image encoder that convolves, 0 for none
	text     int // layers of the text encoder, 0 for no encoder
	textRuns int // how often it runs
	tiles    int // VAE tiles, or chunks of frames; 0 for no decoder
	video    bool
	safety   int // layers of a checker behind the decoder

	share string // what the second device runs: "passes", those of guidance; "layers", half of the blocks; "steps", the passes of the second half; "encoders"; "decoder"; "" for nothing

	// the recording
	noise      float64 // share of events with a stray in front
	noiseKinds int
	stream     bool    // a second stream with copies at random times, not launched by the main thread
	lanes      bool    // parts of blocks run on a second stream
	hostless   bool    // GPU events only
	cutHead    float64 // share of the first step that was not recorded
	cutTail    float64 // share of the last step that was not recorded, nor what follows it
}

// agreement compares the steps with the truth: "exact" or what differs.
func agreement(s scene, r *split.Result, truth []int32, noise []bool) string {
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
	switch {
	case wrong > 0:
		return fmt.Sprintf("%d events in wrong steps", wrong)
	case s.cutHead > 0 && r.Steps[0].Complete:
		return "the cut first step is taken for complete"
	case s.cutTail > 0 && r.Steps[want-1].Complete:
		return "the cut last step is taken for complete"
	}
	return "exact"
}

func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }

// families are the kinds of scenes: a plain one, and plain ones with one thing that makes them hard. The last has two or three of these.
var families = []string{
	"plain", "small", "guided", "interval", "perturbed", "halved", "cached", "experts", "refined", "control", "unet", "images", "warmup", "jitter",
	"noise", "stream", "lanes", "tiles", "video", "echo", "cut", "decode", "training", "encoder", "pass", "mixed",
}

// randomScene draws a scene of the family.
func randomScene(family string, seed uint64) scene {
	r := rand.New(rand.NewPCG(seed, 1))
	s := scene{
		seed: seed, images: 1, steps: pick(r, 2, 3, 4, 8, 20, 28, 50), double: 1 + r.IntN(30), single: r.IntN(31), blockSize: 8 + r.IntN(20),
		text: pick(r, 0, 6, 12, 24), textRuns: 1 + r.IntN(2), tiles: pick(r, 0, 1, 4, 12), scheduler: 2 + r.IntN(5), prestep: r.IntN(4),
		graph: r.IntN(5) == 0, hostless: r.IntN(3) == 0,
	}
	if s.steps*(s.double+s.single)*s.blockSize > 20000 {
		s.double, s.single = 1+s.double/6, s.single/6
	}
	if family != "mixed" {
		s.alter(r, family)
		return s
	}
	for range 2 + r.IntN(2) {
		s.alter(r, families[1+r.IntN(len(families)-6)])
	}
	return s
}

// alter draws what makes a scene one of the family.
func (s *scene) alter(r *rand.Rand, family string) {
	part := func() int { // of the steps, at least one and not all
		s.steps = max(3, s.steps)
		return 1 + r.IntN(s.steps-1)
	}
	switch family {
	case "small":
		s.double, s.single = 1+r.IntN(3), r.IntN(2)
		s.text, s.tiles = pick(r, 6, 12), pick(r, 1, 4)
	case "guided":
		s.passes = "2"
		if r.IntN(2) == 0 {
			s.passes = strings.Repeat("2", part()) + "1"
		}
	case "interval": // guidance in the middle of the loop only
		s.steps = max(8, s.steps)
		from := 1 + r.IntN(s.steps/2)
		s.passes = strings.Repeat("1", from) + strings.Repeat("2", 1+r.IntN(s.steps-from-1)) + "1"
	case "perturbed":
		s.passes = strings.Repeat("3", part()) + "2"
	case "halved":
		s.halved = part()
	case "cached":
		s.steps = pick(r, 8, 20, 28, 50)
		s.double, s.single = max(2, s.double/2), s.single/2
		s.cached = pick(r, "FC", "FCC", "FFCFCCFCCF", "FFFCFCCFFC", "FFFFCCCC", "FS", "FFSSFSSS")
		if r.IntN(2) == 0 {
			hit := pick(r, "C", "S")
			s.cached = "F"
			for range s.steps - 1 {
				s.cached += pick(r, "F", hit, hit)
			}
		}
	case "experts":
		s.steps = pick(r, 8, 20)
		s.experts = part()
		s.passes = "2"
		if r.IntN(2) == 0 {
			s.passes = strings.Repeat("2", s.experts) + "1"
		}
	case "refined":
		s.steps = pick(r, 8, 20, 28, 50)
		s.refined = 1 + r.IntN(s.steps/2)
	case "control":
		s.control = 1 + r.IntN(max(1, (s.double+s.single)/2))
		if r.IntN(2) == 0 {
			s.governed, s.prestep = part(), 1+r.IntN(3)
		}
	case "unet":
		s.unet, s.double, s.single = true, 1+r.IntN(10), 0
	case "images":
		s.images = 2 + r.IntN(2)
		s.steps = pick(r, 2, 3, 4, 8)
		s.text, s.tiles = pick(r, 6, 12, 24), pick(r, 1, 4, 12)
	case "warmup":
		s.prelude, s.autotune, s.firstExtra = r.IntN(12), r.IntN(40), r.IntN(12)
		s.steps = max(3, s.steps)
		s.syncs = 1 + r.IntN(2)
	case "jitter":
		s.jitter = 0.02
		s.steps = max(3, s.steps)
	case "noise":
		s.noise, s.noiseKinds, s.graph = 0.05, pick(r, 1, 3, 10, 1000), false
	case "stream":
		s.stream = true
	case "lanes":
		s.lanes = true
	case "tiles":
		s.tiles, s.steps = 20+r.IntN(20), pick(r, 2, 3, 4)
	case "video":
		s.video, s.tiles = true, 5+r.IntN(26)
	case "echo": // other loops have as many iterations
		s.steps = pick(r, 4, 8, 20)
		switch r.IntN(3) {
		case 0:
			s.text = s.steps
		case 1:
			s.tiles = s.steps
		default:
			s.text, s.tiles, s.double = s.steps, s.steps, s.steps
		}
		s.image, s.safety = r.IntN(2)*12, r.IntN(2)*12
	case "cut":
		s.steps = max(4, s.steps)
		if r.IntN(3) > 0 {
			s.cutTail = 0.1 + 0.8*r.Float64()
		}
		if s.cutTail == 0 { // with both ends cut nothing tells where a step begins
			s.cutHead = 0.1 + 0.8*r.Float64()
		}
	case "decode", "training":
		s.other = family
		s.steps = pick(r, 2, 3, 4, 8, 20, 28, 50)
	case "encoder": // a pass of a text encoder, behind one of images now and then
		s.other = family
		s.text = 6 + r.IntN(40)
		s.blockSize = 8 + r.IntN(40)
		s.image = pick(r, 0, 0, 12)
	case "pass": // one of the denoiser
		s.other, s.steps = family, 1
		s.double = max(2, s.double)
	}
}
