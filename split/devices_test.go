package split_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// A cast is the devices of a run: one plays the scene and shares parts of it with others, or each plays it on its own data.
type cast struct {
	scene
	players []scene       // on further devices, each with its own data
	hosts   int           // host threads: 0 for a trace of kernels alone, 1 for all devices, 2 for one a device
	chunk   string        // what one thread launches for a player before it turns to the next: "step", "pass", "kernel"
	lock    bool          // players wait for each other at each chunk
	slower  float64       // how much longer kernels of further devices take
	later   time.Duration // how much later they begin
}

// A cue is an event of a player.
type cue struct {
	event
	player, chunk int
}

// program returns the events of all players in the order in which a single thread launches them.
func (c cast) program() (all []cue) {
	for i, s := range append([]scene{c.scene}, c.players...) {
		p := s.perform()
		chunk := 0
		for k, e := range p.ev {
			if k > 0 && (c.chunk == "kernel" || e.step != p.ev[k-1].step || c.chunk == "pass" && e.pass != p.ev[k-1].pass) {
				chunk++
			}
			e.device += int32(i)
			all = append(all, cue{e, i, chunk})
		}
	}
	if len(c.players) > 0 {
		slices.SortStableFunc(all, func(a, b cue) int { return cmp.Or(cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.player, b.player)) })
	}
	return all
}

// make lays the program out in time.
func (c cast) make() (*trace.Trace, []int32, []bool) {
	t := &trace.Trace{Threads: []trace.Thread{{PID: 1, TID: 1}, {PID: 1, TID: 2}, {PID: 1, TID: 3}, {PID: 1, TID: 4}}}
	type made struct {
		g     trace.GPUEvent
		step  int32
		noise bool
	}
	var all []made
	begin := 5 * time.Second
	host := [4]time.Duration{begin, begin, begin, begin}
	gpu := [4]time.Duration{begin, begin + c.later, begin + c.later, begin + c.later}
	ends := map[int][]time.Duration{} // of each player: when all of its first so many events have ended
	var launch [4]trace.LaunchID
	var graph [4]int
	var sync, latest time.Duration
	chunk := 0
	for i := range launch {
		launch[i] = trace.None
	}
	for i, e := range c.program() {
		d, th := e.device, 0
		if c.hosts != 1 {
			th = int(d)
		}
		if e.graph == 0 || e.graph != graph[d] {
			host[th] += time.Duration(3000+i*7919%2000) * time.Nanosecond
			if c.hosts > 0 {
				launch[d] = trace.LaunchID(len(t.Launches))
				l := trace.Launch{Name: "hipLaunchKernel", Start: host[th], Dur: 2 * time.Microsecond, Correlation: int64(len(t.Launches) + 1), Thread: trace.ThreadID(th), Op: trace.None, Kind: trace.LaunchKernel}
				if e.graph > 0 {
					l.Name, l.Kind = "hipGraphLaunch", trace.LaunchGraph
				}
				t.Launches = append(t.Launches, l)
			}
		}
		graph[d] = e.graph
		if d > 0 && c.slower > 0 {
			e.dur = time.Duration(float64(e.dur) * c.slower)
		}
		if e.chunk != chunk {
			chunk, sync = e.chunk, latest
		}
		at := max(gpu[d], host[th]+4*time.Microsecond)
		if e.waits > 0 {
			at = max(at, ends[e.player][e.waits-1])
		}
		if c.lock {
			at = max(at, sync)
		}
		g := trace.GPUEvent{Name: e.sig, Grid: [3]uint32{e.grid, 1, 1}, Start: at, Dur: e.dur, RawDur: e.dur, Stream: 7, Device: d, Launch: launch[d], Op: trace.None}
		if e.copy {
			g.Kind, g.Bytes = trace.Memcpy, 1<<20
		}
		if launch[d] >= 0 {
			g.Correlation = t.Launches[launch[d]].Correlation
			t.Launches[launch[d]].GPU++
		}
		gpu[d] = at + e.dur + 500*time.Nanosecond
		latest = max(latest, g.End())
		last := g.End()
		if n := len(ends[e.player]); n > 0 {
			last = max(last, ends[e.player][n-1])
		}
		ends[e.player] = append(ends[e.player], last)
		all = append(all, made{g, int32(e.step), e.noise})
	}
	slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.g.Start, b.g.Start) })
	truth, noise := make([]int32, len(all)), make([]bool, len(all))
	for i, m := range all {
		t.GPU = append(t.GPU, m.g)
		truth[i], noise[i] = m.step, m.noise
	}
	return t, truth, noise
}

// A way is how several devices take part in a run.
type way struct {
	name string
	cast func(s scene) cast
}

// alone returns a scene with data of its own: its kernels take other times.
func (s scene) alone(n uint64) scene {
	s.seed += n << 32
	return s
}

func ways() (out []way) {
	add := func(name string, f func(s scene) cast) { out = append(out, way{name, f}) }
	for hosts := range 3 {
		h := []string{"kernels alone", "one thread", "two threads"}[hosts]
		share := func(what string) {
			add(what+", "+h, func(s scene) cast {
				s.share, s.graph = what, s.graph && what != "layers"
				if what == "passes" {
					s.passes = "2"
				}
				return cast{scene: s, hosts: hosts}
			})
		}
		share("passes")
		if hosts < 2 { // a thread launches what the other device waits for
			share("layers")
			share("steps")
			share("encoders")
			share("decoder")
		}
		chunks := []string{"step"}
		if hosts == 1 {
			chunks = []string{"step", "pass", "kernel"}
		}
		for _, chunk := range chunks {
			add("data, "+h+" by "+chunk, func(s scene) cast {
				return cast{scene: s, players: []scene{s.alone(1)}, hosts: hosts, chunk: chunk}
			})
			add("data drifting, "+h+" by "+chunk, func(s scene) cast {
				return cast{scene: s, players: []scene{s.alone(1)}, hosts: hosts, chunk: chunk, slower: 1.2, later: time.Millisecond}
			})
			add("three, "+h+" by "+chunk, func(s scene) cast {
				return cast{scene: s, players: []scene{s.alone(1), s.alone(2)}, hosts: hosts, chunk: chunk, slower: 1.05}
			})
			add("data in step, "+h+" by "+chunk, func(s scene) cast {
				return cast{scene: s, players: []scene{s.alone(1)}, hosts: hosts, chunk: chunk, lock: chunk != "kernel"}
			})
		}
	}
	return out
}

// TestDevicesStepTogether plays scenes on several devices. Each event of each device must be in its step.
func TestDevicesStepTogether(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var n tally
			for i := range (*scenes + 1) / 2 {
				s := randomScene("plain", *seed+uint64(i))
				n.perform(t, w.name, w.cast(s))
			}
			t.Log(n.String())
			if n.wrong > 0 {
				t.Error("want none wrong")
			}
		})
	}
}

// perform splits what a cast plays and counts what came of it.
func (n *tally) perform(t *testing.T, name string, c cast) {
	tr, truth, noise := c.make()
	r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
	var no *split.NoSteadyStateError
	switch {
	case errors.As(err, &no):
		n.unsure++
		t.Logf("%s/%d given up: %v: %+v", name, c.seed, err, c)
	case err != nil:
		t.Fatal(err)
	default:
		if got := agreement(c.scene, r, truth, noise); got != "exact" {
			n.wrong++
			t.Logf("%s/%d wrong: %s, confidence %.2f: %+v", name, c.seed, got, r.Confidence, c)
			return
		}
		for i := range truth {
			if truth[i] < 0 && !noise[i] && r.PhaseOf[i] == split.BetweenSteps {
				n.wrong++
				t.Logf("%s/%d wrong: encoders or decoder of device %d between steps", name, c.seed, tr.GPU[i].Device)
				return
			}
		}
		n.exact++
	}
}

// TestDevicesOutOfStep plays devices that each make images of their own and do not take as many steps at a time. Either no steps are given out or it is said.
func TestDevicesOutOfStep(t *testing.T) {
	ways := map[string]func(s scene) cast{
		"more steps": func(s scene) cast {
			other := s.alone(1)
			other.steps += 1 + s.steps/2
			return cast{scene: s, players: []scene{other}}
		},
		"another time": func(s scene) cast { return cast{scene: s, players: []scene{s.alone(1)}, later: 10 * time.Second} },
	}
	for name, w := range ways {
		for hosts := range 3 {
			if name == "another time" && hosts == 0 {
				continue // then one is an image after the other
			}
			t.Run(fmt.Sprintf("%s, %d threads", name, hosts), func(t *testing.T) {
				told := 0
				for i := range *scenes {
					c := w(randomScene("plain", *seed+uint64(i)))
					c.hosts, c.chunk = hosts, "step"
					tr, truth, noise := c.make()
					r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
					if err != nil {
						continue // not all that differ can be told to be steps
					}
					told++
					if diagnosed(r, "devices_out_of_step") == "" || r.Confidence > 0.8 {
						t.Errorf("seed %d: nothing said, confidence %.2f, %s: %+v", c.seed, r.Confidence, agreement(c.scene, r, truth, noise), c)
					}
				}
				t.Logf("%d of %d scenes have steps", told, *scenes)
			})
		}
	}
}
