package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

// TestSuspectTimes: what GPU events cannot be together is told, and nothing of what they may be.
func TestSuspectTimes(t *testing.T) {
	row := func(change func(i int) string) string {
		var events []string
		for i := range 10 {
			events = append(events, change(i))
		}
		return document(events...)
	}
	plain := func(i int) string { return kernel("k", 100*i, 80, 0, i+1) }
	for _, c := range []struct {
		name string
		text string
		want map[string]int64
	}{
		{"one after the other", row(plain), nil},
		{"two streams", row(func(i int) string { return kernel("k", 100*(i/2), 80, i%2, i+1) }), nil},
		{"each begins in the last tenth of the one before", row(func(i int) string { return kernel("k", 72*i, 80, 0, i+1) }), nil},
		{"a copy without time at one instant", row(func(i int) string { return kernel("k", 100*(i/2), 80*(i%2), 0, i/2+1) }), nil},
		{"twice", row(func(i int) string { return plain(i) + "," + plain(i) }), map[string]int64{"duplicate_events": 10, "overlapping_events": 10}},
		{"some twice", row(func(i int) string {
			if i < 2 {
				return plain(i) + "," + plain(i)
			}
			return plain(i)
		}), map[string]int64{"duplicate_events": 2}},
		{"starts in milliseconds", row(func(i int) string { return kernel("k", 0.1*float64(i), 80, 0, i+1) }), map[string]int64{"overlapping_events": 9}},
		{"no durations", row(func(i int) string { return kernel("k", 100*i, 0, 0, i+1) }), map[string]int64{"zero_durations": 10}},
		{"a digit too few", row(func(i int) string {
			if i == 4 {
				return kernel("k", "291599539700.123", 80, 0, i+1)
			}
			return kernel("k", fmt.Sprintf("2915995397%d00.123", i), 80, 0, i+1)
		}), map[string]int64{"times_apart": 1}},
		{"the last one never ends", row(func(i int) string { return kernel("k", 100*i, []string{"80", "2e15"}[i/9], i, i+1) }), map[string]int64{"endless_durations": 1}},
		{"no sum overflows", row(func(i int) string { return kernel("k", 100*i, "2.2e15", i, i+1) }), map[string]int64{"endless_durations": 10, "zero_durations": 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := loadText(t, c.text)
			got := map[string]int64{}
			for _, d := range tr.Diagnostics {
				if d.Code != "unlinked_gpu_events" {
					got[d.Code] = d.Count
				}
			}
			if c.want == nil {
				c.want = map[string]int64{}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if sum, _ := gpuTime(tr); sum < 0 || sum > 20*80*time.Microsecond {
				t.Errorf("sum %v", sum)
			}
		})
	}
	t.Run("two copies of a file", func(t *testing.T) {
		path := write(t, "t.json", []byte(row(plain)))
		if tr := load(t, trace.LoadOptions{}, path, path); count(tr, "duplicate_events") != 10 {
			t.Errorf("diagnostics %+v", tr.Diagnostics)
		}
	})
}

// TestMixedProcesses: two ranks in one file count their correlations from the same number.
func TestMixedProcesses(t *testing.T) {
	rank := func(pid, device int, at float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":%d,"tid":1,"ts":%v,"dur":1,"args":{"correlation":7}},`+
			`{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":0,"ts":%v,"dur":2,"args":{"device":%[3]d,"stream":0,"correlation":7}}`, pid, at, device, at+5)
	}
	for text, want := range map[string]int64{
		document(rank(1, 0, 0)):                      0,
		document(rank(1, 0, 0), rank(1, 0, 10)):      0,
		document(rank(1, 0, 0), rank(2, 1, 2)):       2,
		document(rank(1, 0, 0), rank(2, 1, 500_000)): 2,
	} {
		if tr := loadText(t, text); count(tr, "mixed_processes") != want {
			t.Errorf("%s\n%+v", text, tr.Diagnostics)
		}
	}
}
