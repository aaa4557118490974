package trace_test

import (
	"fmt"
	"math"
	"testing"
)

// TestExtremeTimes: no stamp or duration that an int64 of nanoseconds holds, and none beyond, makes a sum overflow.
func TestExtremeTimes(t *testing.T) {
	const most, least = "9223372036854775.807", "-9223372036854775.808"
	var events []string
	for i, ts := range []string{most, least, "9e15", "-9e15", "2.2e15", "-2.2e15", "1e300", "0"} {
		for _, dur := range []string{"0", "-1", "2.2e15", most, least, "1e300"} {
			for _, cat := range []string{"kernel", "cpu_op", "cuda_runtime", "user_annotation", "gpu_user_annotation"} {
				events = append(events,
					fmt.Sprintf(`{"ph":"X","cat":%q,"name":"x","pid":0,"tid":1,"ts":%s,"dur":%s,"args":{"correlation":%d}}`, cat, ts, dur, i+1),
					fmt.Sprintf(`{"ph":"B","cat":%q,"name":"x","pid":0,"tid":1,"ts":%s}`, cat, ts),
					fmt.Sprintf(`{"ph":"E","pid":0,"tid":1,"ts":%s}`, dur))
			}
		}
	}
	tr := loadText(t, document(events...))
	for i := range tr.GPU {
		if g := &tr.GPU[i]; g.Dur < 0 || g.Start > math.MaxInt64-g.Dur {
			t.Errorf("GPU event %+v", *g)
		}
	}
	if len(tr.GPU) == 0 || len(tr.Ops) == 0 || tr.Files[0].Skipped == 0 {
		t.Errorf("%d GPU events, %d operators, %d skipped", len(tr.GPU), len(tr.Ops), tr.Files[0].Skipped)
	}
}
