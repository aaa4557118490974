package record

import (
	"errors"
	"fmt"
)

// A Schedule is torch.profiler.schedule: cycles of Wait idle steps, Warmup steps and Active recorded steps, Repeat times,
// 0 for without end, after SkipFirst steps. SkipFirstWait leaves out the idle steps of the first cycle.
type Schedule struct {
	Wait, Warmup, Active, Repeat, SkipFirst int
	SkipFirstWait                           bool
}

// Action is what the profiler does during a step.
type Action uint8

// Actions, as torch.profiler.ProfilerAction.
const (
	None Action = iota
	Warmup
	Record
	RecordAndSave // record, and hand the trace over when the step ends
)

// String returns PyTorch's name of the action.
func (a Action) String() string {
	return [...]string{"NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"}[min(a, RecordAndSave)]
}

// ErrSchedule is wrapped by the errors about schedules that PyTorch would refuse.
var ErrSchedule = errors.New("impossible profiler schedule")

// Check tells whether PyTorch accepts the schedule: all numbers at least 0 and Active at least 1.
func (s Schedule) Check() error {
	if s.Wait < 0 || s.Warmup < 0 || s.Active < 1 || s.Repeat < 0 || s.SkipFirst < 0 {
		return fmt.Errorf("record: %w: %s needs active >= 1 and the others >= 0", ErrSchedule, s)
	}
	return nil
}

// String returns the Python call.
func (s Schedule) String() string {
	skip := ""
	if s.SkipFirst != 0 {
		skip = fmt.Sprintf(", skip_first=%d", s.SkipFirst)
	}
	if s.SkipFirstWait {
		skip += ", skip_first_wait=1"
	}
	return fmt.Sprintf("schedule(wait=%d, warmup=%d, active=%d, repeat=%d%s)", s.Wait, s.Warmup, s.Active, s.Repeat, skip)
}

// Action returns what the profiler does during step i, counted from 0. The schedule must pass Check.
func (s Schedule) Action(i int) Action {
	if i -= s.SkipFirst; i < 0 {
		return None
	}
	if s.SkipFirstWait {
		i += s.Wait
	}
	cycle := s.Wait + s.Warmup + s.Active
	if s.Repeat > 0 && i/cycle >= s.Repeat {
		return None
	}
	switch i %= cycle; {
	case i < s.Wait:
		return None
	case i < s.Wait+s.Warmup:
		return Warmup
	case i < cycle-1:
		return Record
	default:
		return RecordAndSave
	}
}

// Effect is what a transition between two actions does to what has been recorded.
type Effect uint8

// Effects.
const (
	Continue Effect = iota // nothing changes hands
	Begin                  // a profiler is made; there was nothing to lose
	Keep                   // recording stops; the profiler keeps its events
	Lose                   // a new profiler takes the place of the one that holds the events
)

// String describes the effect in a few words.
func (e Effect) String() string {
	return [...]string{"nothing changes", "profiler starts", "events kept", "new profiler: events lost unless on_trace_ready wrote them"}[min(e, Lose)]
}

// A Step is one step of a simulated loop.
type Step struct {
	Index  int
	Action Action // during the step
	Next   Action // that profiler.step() at its end moves to
	Effect Effect // of that transition
}

// A Run is the outcome of a simulated loop.
type Run struct {
	Steps  []Step
	Kept   []int   // steps whose events export_chrome_trace writes after the loop; empty: the trace is empty
	Handed [][]int // steps that each call of on_trace_ready sees, the one at the end of the loop included
}

// Simulate runs a loop of n steps, each with profiler.step() at its end, leaves the profiler's context and exports. It
// follows the transitions of torch.profiler.profile: RECORD_AND_SAVE hands the trace over when its step ends, and what comes
// after it decides: NONE leaves the profiler with its events in place, anything else makes a new one, and so does the end of
// a later wait. An action that is reached after the last step has no step to record.
func (s Schedule) Simulate(n int) (Run, error) {
	if err := s.Check(); err != nil {
		return Run{}, err
	}
	var r Run
	for i := range max(n, 0) {
		now, next := s.Action(i), s.Action(i+1)
		if now >= Record {
			r.Kept = append(r.Kept, i)
		}
		step := Step{Index: i, Action: now, Next: next}
		if now == RecordAndSave {
			r.Handed = append(r.Handed, r.Kept)
		}
		switch {
		case next != None && (now == None || now == RecordAndSave): // a new profiler takes over
			step.Effect = Begin
			if r.Kept != nil {
				step.Effect, r.Kept = Lose, nil
			}
		case now == RecordAndSave:
			step.Effect = Keep
		}
		r.Steps = append(r.Steps, step)
	}
	if last := s.Action(max(n, 0)); last >= Record { // leaving the context stops the profiler and hands over
		r.Handed = append(r.Handed, r.Kept)
	}
	return r, nil
}
