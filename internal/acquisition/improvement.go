package acquisition

import (
	"math"

	"github.com/fbo-node/fbo/internal/normal"
)

// EI returns the expected improvement over best, sd·(zΦ(z) + φ(z)) with z = (mean - best)/sd
// (Jones, Schonlau and Welch, "Efficient Global Optimization of Expensive Black-Box Functions",
// Journal of Global Optimization, 1998, equation 15, for a maximum). If sd is 0, it is max(mean -
// best, 0). Where the mean is far below best, EI and its gradient are 0. LogEI has the same
// maximiser without this problem; use EI only as a factor of products.
func EI(p Predictor, best float64) Function { return &scored{p: p, by: improvement{best}} }

// LogEI returns the logarithm of EI. Its value and gradient stay accurate where EI is too small for
// a float64 (Ament et al., "Unexpected Improvements to Expected Improvement for Bayesian
// Optimization", NeurIPS 2023, section 4.1). Instead of the erfcx of the paper it uses a continued
// fraction, which also gives the gradient. If sd is 0, it is log max(mean - best, 0), which may be
// -Inf.
func LogEI(p Predictor, best float64) Function { return &scored{p: p, by: logImprovement{best}} }

// Improvement returns EI for a given mean and standard deviation sd >= 0, and its derivatives with
// respect to both. It is for functions that combine several posteriors. At sd = 0 the derivative
// with respect to sd is 0.
func Improvement(mean, sd, best float64) (value, byMean, bySD float64) {
	return improvement{best}.slopes(mean, sd)
}

// LogImprovement returns LogEI for a given mean and standard deviation sd >= 0, and its derivatives
// with respect to both. It is for functions that combine several posteriors. It is -Inf where no
// improvement is possible. At sd = 0 the derivative with respect to sd is 0.
func LogImprovement(mean, sd, best float64) (value, byMean, bySD float64) {
	return logImprovement{best}.slopes(mean, sd)
}

type improvement struct{ best float64 }

func (e improvement) value(mean, sd float64) float64 {
	if sd == 0 {
		return max(mean-e.best, 0)
	}
	h, _, _ := normal.Excess((mean - e.best) / sd)
	return sd * h
}

func (e improvement) slopes(mean, sd float64) (value, byMean, bySD float64) {
	if sd == 0 {
		if mean > e.best {
			byMean = 1
		}
		return max(mean-e.best, 0), byMean, 0
	}
	h, c, d := normal.Excess((mean - e.best) / sd)
	return sd * h, c, d
}

type logImprovement struct{ best float64 }

func (e logImprovement) value(mean, sd float64) float64 {
	value, _, _ := e.slopes(mean, sd)
	return value
}

func (e logImprovement) slopes(mean, sd float64) (value, byMean, bySD float64) {
	if sd == 0 {
		gain := max(mean-e.best, 0)
		if gain > 0 {
			byMean = 1 / gain
		}
		return math.Log(gain), byMean, 0
	}
	h, c, d := normal.LogExcess((mean - e.best) / sd)
	return math.Log(sd) + h, c / sd, d / sd
}
