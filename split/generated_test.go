package split_test

import (
	"errors"
	"testing"

	"github.com/ditlens/ditlens/split"
)

// TestGeneratedScenes runs the autocorrelation on random pipelines. At least 99 % must be split exactly, event by event; the
// rest should be given up, not be wrong (one scene in two hundred: a two-step model of two blocks beside a larger encoder).
func TestGeneratedScenes(t *testing.T) {
	const perFamily = 24
	exact, unsure, wrong := 0, 0, 0
	for _, family := range families {
		for i := range perFamily {
			s := randomScene(family, uint64(i))
			tr, truth, noise := s.make()
			r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
			var no *split.NoSteadyStateError
			switch {
			case errors.As(err, &no):
				unsure++
				t.Logf("%s/%d: %v: %+v", family, i, err, s)
				continue
			case err != nil:
				t.Fatal(err)
			}
			if got := agreement(r, truth, noise); got != "exact" {
				wrong++
				t.Logf("%s/%d: %s, confidence %.2f: %+v", family, i, got, r.Confidence, s)
				continue
			}
			exact++
		}
	}
	total := exact + unsure + wrong
	t.Logf("%d scenes: %d exact, %d given up, %d wrong", total, exact, unsure, wrong)
	if 100*exact < 99*total || 200*wrong > total {
		t.Errorf("%d of %d scenes exact, %d given up, %d wrong", exact, total, unsure, wrong)
	}
}
