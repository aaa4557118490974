package record_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ditlens/ditlens/trace/record"
)

// torchProfile is torch.profiler.profile written after its source: a table of what each pair of actions runs.
type torchProfile struct {
	schedule func(int) string
	step     int
	action   string
	events   *[]int // of the profiler in place; nil before the first
	running  bool
	handed   [][]int
	lost     []int // steps at whose end a new profiler took the place of one with events
}

func torchSchedule(wait, warmup, active, repeat, skipFirst int, skipFirstWait bool) func(int) string {
	return func(step int) string {
		if step < skipFirst {
			return "NONE"
		}
		step -= skipFirst
		if skipFirstWait {
			step += wait
		}
		n := wait + warmup + active
		if repeat > 0 && step >= repeat*n {
			return "NONE"
		}
		mod := step % n
		if mod < wait {
			return "NONE"
		}
		if mod < wait+warmup {
			return "WARMUP"
		}
		if mod < n-1 {
			return "RECORD"
		}
		return "SAVE"
	}
}

func (p *torchProfile) transit(from, to string) {
	prepare := func() {
		if p.events != nil && len(*p.events) > 0 {
			p.lost = append(p.lost, p.step-1)
		}
		p.events, p.running = &[]int{}, false
	}
	start := func() { p.running = true }
	stop := func() { p.running = false }
	ready := func() { p.handed = append(p.handed, append([]int{}, *p.events...)) }
	table := map[string][]func(){
		"NONE NONE": {}, "NONE WARMUP": {prepare}, "NONE RECORD": {prepare, start}, "NONE SAVE": {prepare, start},
		"WARMUP NONE": {start, stop}, "WARMUP WARMUP": {}, "WARMUP RECORD": {start}, "WARMUP SAVE": {start},
		"RECORD NONE": {stop}, "RECORD WARMUP": {stop}, "RECORD RECORD": {}, "RECORD SAVE": {},
		"SAVE NONE": {stop, ready}, "SAVE WARMUP": {stop, ready, prepare},
		"SAVE RECORD": {stop, ready, prepare, start}, "SAVE SAVE": {stop, ready, prepare, start},
		"NONE exit": {}, "WARMUP exit": {start, stop}, "RECORD exit": {stop, ready}, "SAVE exit": {stop, ready},
	}
	for _, f := range table[from+" "+to] {
		f()
	}
}

func (p *torchProfile) run(n int) (kept []int) {
	p.action = p.schedule(0)
	p.transit("NONE", p.action)
	for i := range n {
		if p.running {
			*p.events = append(*p.events, i)
		}
		p.step++
		next := p.schedule(p.step)
		p.transit(p.action, next)
		p.action = next
	}
	p.transit(p.action, "exit")
	if p.events == nil {
		return nil
	}
	return *p.events
}

func TestScheduleAgreesWithTorch(t *testing.T) {
	forSchedules(func(s record.Schedule, n int) {
		torch := &torchProfile{schedule: torchSchedule(s.Wait, s.Warmup, s.Active, s.Repeat, s.SkipFirst, s.SkipFirstWait)}
		kept := torch.run(n)
		r, err := s.Simulate(n)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%v, %d steps", s, n)
		if diff := cmp.Diff(kept, r.Kept, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: kept %s", name, diff)
		}
		if diff := cmp.Diff(torch.handed, r.Handed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: handed %s", name, diff)
		}
		var lost []int
		for _, step := range r.Steps {
			if step.Effect == record.Lose {
				lost = append(lost, step.Index)
			}
		}
		if diff := cmp.Diff(torch.lost, lost); diff != "" {
			t.Errorf("%s: lost at %s", name, diff)
		}
		for i, step := range r.Steps {
			if want := torch.schedule(i); step.Action.String() != map[string]string{"SAVE": "RECORD_AND_SAVE"}[want] && step.Action.String() != want {
				t.Errorf("%s: step %d %v, want %s", name, i, step.Action, want)
			}
		}
	})
}

func forSchedules(f func(s record.Schedule, n int)) {
	for wait := range 4 {
		for warmup := range 4 {
			for active := 1; active <= 3; active++ {
				for repeat := range 3 {
					for n := range 13 {
						s := record.Schedule{Wait: wait, Warmup: warmup, Active: active, Repeat: repeat}
						f(s, n)
						s.SkipFirst = 2
						f(s, n)
						s.SkipFirstWait = true
						f(s, n)
					}
				}
			}
		}
	}
}

func TestKnownSchedules(t *testing.T) {
	tests := []struct {
		name string
		s    record.Schedule
		n    int
		kept []int
	}{
		{"BL-13 the next cycle takes the window away", record.Schedule{Warmup: 2, Active: 1}, 3, nil},
		{"wait=1 and a step more", record.Schedule{Wait: 1, Warmup: 2, Active: 1}, 4, []int{3}},
		{"repeat=1", record.Schedule{Warmup: 2, Active: 1, Repeat: 1}, 3, []int{2}},
		{"xDiT's default", record.Schedule{Wait: 2, Warmup: 2, Active: 1}, 5, []int{4}},
		{"a later wait ends in a new profiler", record.Schedule{Wait: 1, Warmup: 1, Active: 1}, 5, nil},
		{"skip_first", record.Schedule{SkipFirst: 2, Warmup: 1, Active: 2, Repeat: 1}, 6, []int{3, 4}},
		{"skip_first_wait", record.Schedule{SkipFirst: 1, SkipFirstWait: true, Wait: 9, Warmup: 1, Active: 1}, 3, []int{2}},
		{"the idle step after the window keeps it", record.Schedule{SkipFirstWait: true, Wait: 1, Warmup: 2, Active: 1}, 3, []int{2}},
		{"but not beyond that step", record.Schedule{SkipFirstWait: true, Wait: 1, Warmup: 2, Active: 1}, 4, nil},
		{"cut inside the active steps", record.Schedule{Warmup: 1, Active: 3}, 3, []int{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tt.s.Simulate(tt.n)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.kept, r.Kept); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAdvise(t *testing.T) {
	got, err := record.Schedule{Warmup: 2, Active: 1}.Advise(3)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 2 || got[0].Text != "repeat=1" || got[1].Text != "wait=1 and 4 steps" {
		t.Errorf("got %+v", got)
	}
	if kept, err := (record.Schedule{Wait: 1, Warmup: 2, Active: 1}).Advise(4); kept != nil || err != nil {
		t.Errorf("nothing is to be changed: %+v, %v", kept, err)
	}
}

// Whatever Advise says keeps all active steps, and an empty run always gets advice.
func TestAdviceHolds(t *testing.T) {
	forSchedules(func(s record.Schedule, n int) {
		r, err := s.Simulate(n)
		if err != nil {
			t.Fatal(err)
		}
		advice, err := s.Advise(n)
		if err != nil || len(r.Kept) == 0 && len(advice) == 0 {
			t.Fatalf("%v, %d steps: no advice (%v)", s, n, err)
		}
		for _, c := range advice {
			r, err := c.Schedule.Simulate(c.Steps)
			if err != nil || len(r.Kept) != s.Active || c.Text == "" {
				t.Fatalf("%v, %d steps: %+v keeps %v (%v)", s, n, c, r.Kept, err)
			}
		}
	})
}

func TestImpossibleSchedules(t *testing.T) {
	for _, s := range []record.Schedule{{}, {Wait: -1, Active: 1}, {Active: 1, Repeat: -1}, {Active: 1, SkipFirst: -1}} {
		if _, err := s.Simulate(3); !errors.Is(err, record.ErrSchedule) {
			t.Errorf("%v: %v", s, err)
		}
		if _, err := s.Advise(3); !errors.Is(err, record.ErrSchedule) {
			t.Errorf("%v: %v", s, err)
		}
	}
	if r, err := (record.Schedule{Active: 1}).Simulate(-4); err != nil || len(r.Steps) != 0 {
		t.Errorf("no steps: %+v, %v", r, err)
	}
}

func ExampleSchedule_Simulate() {
	s := record.Schedule{Warmup: 2, Active: 1}
	run, _ := s.Simulate(3)
	for _, step := range run.Steps {
		fmt.Printf("%d %v -> %v: %v\n", step.Index, step.Action, step.Next, step.Effect)
	}
	advice, _ := s.Advise(3)
	fmt.Println("kept:", run.Kept, "better:", advice[0].Text)
	// Output:
	// 0 WARMUP -> WARMUP: nothing changes
	// 1 WARMUP -> RECORD_AND_SAVE: nothing changes
	// 2 RECORD_AND_SAVE -> WARMUP: new profiler: events lost unless on_trace_ready wrote them
	// kept: [] better: repeat=1
}
