package acquisition

import (
	"math"
	"testing"
)

// LogImprovement is LogEI at a point of the same mean and deviation, with the
// derivatives of that, from certainty to where EI underflows.
func TestLogImprovement(t *testing.T) {
	for _, test := range [][3]float64{{0.3, 1, 0.4}, {2, 0.1, 0.4}, {-50, 0.5, 0.4}, {0.9, 0, 0.4}} {
		mean, sd, best := test[0], test[1], test[2]
		value, byMean, bySD := LogImprovement(mean, sd, best)
		if want := LogEI(fixed{mean, sd * sd}, best).Value([]float64{0}); math.Abs(value-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%v: %g, LogEI %g", test, value, want)
		}
		const step = 1e-5
		up, _, _ := LogImprovement(mean+step, sd, best)
		down, _, _ := LogImprovement(mean-step, sd, best)
		if want := (up - down) / (2 * step); math.Abs(byMean-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%v: derivative by the mean %g, finite difference %g", test, byMean, want)
		}
		if sd == 0 {
			if bySD != 0 {
				t.Errorf("%v: derivative by the deviation %g", test, bySD)
			}
			continue
		}
		up, _, _ = LogImprovement(mean, sd+step, best)
		down, _, _ = LogImprovement(mean, sd-step, best)
		if want := (up - down) / (2 * step); math.Abs(bySD-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%v: derivative by the deviation %g, finite difference %g", test, bySD, want)
		}
	}
	if value, byMean, bySD := LogImprovement(0, 0, 1); !math.IsInf(value, -1) || byMean != 0 || bySD != 0 {
		t.Errorf("nothing to gain: %g, %g, %g", value, byMean, bySD)
	}
}

// fixed predicts the same everywhere.
type fixed struct{ mean, variance float64 }

func (f fixed) Predict([]float64) (mean, variance float64) { return f.mean, f.variance }

func (f fixed) PredictGradient(dMean, dVariance, _ []float64) (mean, variance float64) {
	clear(dMean)
	clear(dVariance)
	return f.mean, f.variance
}
