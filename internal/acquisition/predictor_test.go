package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// oneObservation is a Gaussian process with a squared exponential kernel of
// variance 1, known to be y at the point at: small enough to differentiate by
// hand, with variance 0 at one point.
type oneObservation struct {
	at     []float64
	y      float64
	length float64
}

func (o oneObservation) Predict(x []float64) (mean, variance float64) {
	k := o.kernel(x)
	return k * o.y, 1 - k*k
}

func (o oneObservation) kernel(x []float64) float64 {
	square := 0.0
	for i := range x {
		d := (x[i] - o.at[i]) / o.length
		square += d * d
	}
	return math.Exp(-square / 2)
}

func (o oneObservation) PredictGradient(dMean, dVariance, x []float64) (mean, variance float64) {
	k := o.kernel(x)
	for i := range x {
		slope := -k * (x[i] - o.at[i]) / (o.length * o.length)
		dMean[i] = o.y * slope
		dVariance[i] = -2 * k * slope
	}
	return k * o.y, 1 - k*k
}

func atMost(p Predictor, high float64) Limit {
	return Limit{Predictor: p, Low: math.Inf(-1), High: high}
}

func acquisitions(p, constraint oneObservation) map[string]Function {
	return map[string]Function{
		"mean":                   Mean(p),
		"ucb":                    UCB(p, 4),
		"lcb":                    LCB(p, 4),
		"ei":                     EI(p, 0.4),
		"log ei":                 LogEI(p, 0.4),
		"log ei, far":            LogEI(p, 40),
		"at most":                LogFeasibility(atMost(constraint, -0.3)),
		"at least":               LogFeasibility(Limit{Predictor: constraint, Low: 0.1, High: math.Inf(1)}),
		"between":                LogFeasibility(Limit{Predictor: constraint, Low: -0.4, High: 0.3}),
		"far above":              LogFeasibility(Limit{Predictor: constraint, Low: -92, High: -90}),
		"far below":              LogFeasibility(Limit{Predictor: constraint, Low: 90, High: 92}),
		"narrow":                 LogFeasibility(Limit{Predictor: constraint, Low: 0.3, High: 0.3001}),
		"two limits":             LogFeasibility(atMost(constraint, -0.3), Limit{Predictor: p, Low: -0.5, High: 0.5}),
		"penalised":              Penalised(LogEI(p, 0.4), append(Margin(Limit{Predictor: constraint, Low: -0.2, High: 0.2}, 1), Bounded{Mean(p), 0, 0.1})...),
		"sum":                    Sum(LogEI(p, 0.4), LogFeasibility(atMost(constraint, -0.3))),
		"no terms":               Sum(),
		"log mean":               LogMean(LogEI(p, 0.4), LogEI(constraint, 0.1), LogEI(p, 40)),
		"gain":                   LogGain(p, []float64{0.4, 1.1, 2}),
		"gain, far":              LogGain(p, []float64{40, 45}),
		"gain, limits":           LogGain(p, []float64{-1, 0.4, 2}, atMost(constraint, -0.3), Limit{Predictor: constraint, Low: -0.4, High: 0.3}),
		"gain, narrow":           LogGain(p, []float64{-1, 0.4}, Limit{Predictor: constraint, Low: 0.3, High: 0.3}),
		"volume":                 LogNEHVI([]Latent{scaledDraws{constraint, []float64{1, 1.5}}, scaledDraws{p, []float64{1, -1}}}, nil, []float64{-0.5, -0.2}),
		"volume, far":            LogNEHVI([]Latent{scaledDraws{constraint, []float64{1, 1.5}}, scaledDraws{p, []float64{1, -1}}}, nil, []float64{40, 30}),
		"gain, nothing feasible": LogGain(p, []float64{math.Inf(-1)}, Limit{Predictor: constraint, Low: 30, High: 31}),
	}
}

// Gradients agree with central differences, and values at many points with those one
// by one.
func TestAcquisitionGradients(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		dim := rapid.IntRange(1, 4).Draw(rt, "dim")
		vector := func() []float64 {
			u := make([]float64, dim)
			for i := range u {
				u[i] = rng.Float64()
			}
			return u
		}
		p := oneObservation{vector(), rng.NormFloat64(), 0.5}
		constraint := oneObservation{vector(), rng.NormFloat64(), 0.7}
		x := vector()
		for _, o := range []oneObservation{p, constraint} {
			if _, variance := o.Predict(x); variance < 1e-3 {
				rt.Skip("differences are not exact enough where the variance vanishes")
			}
		}
		for name, f := range acquisitions(p, constraint) {
			grad, numerical := make([]float64, dim), make([]float64, dim)
			value := f.Gradient(grad, x)
			if other := f.Value(x); other != value {
				rt.Fatalf("%s: Gradient returns %g, Value %g", name, value, other)
			}
			analytic(f.Value).Gradient(numerical, x)
			for i := range grad {
				if math.Abs(grad[i]-numerical[i]) > 1e-5*(1+math.Abs(value)+math.Abs(grad[i])) {
					rt.Fatalf("%s: gradient %v, by differences %v", name, grad, numerical)
				}
			}
			many := slices.Concat(x, p.at, vector(), x)
			dst := make([]float64, 4)
			evaluate(f, dst, many)
			for i, got := range dst {
				if want := f.Value(rowOf(many, 4, i)); got != want {
					rt.Fatalf("%s: many at once give %g, Value %g", name, got, want)
				}
			}
		}
	})
}

// Over 400,000 normal numbers the mean improvement has a standard error of at
// most sd/630; five of them fail a right formula once in 10⁶ seeds.
func TestEIIsTheExpectedImprovement(t *testing.T) {
	rng := random.SeedOf(3).Stream("t", 0)
	for _, c := range []struct{ mean, sd, best float64 }{{0, 1, 0}, {1, 0.5, 0.2}, {-1, 2, 0.5}, {0.3, 0.1, 0.4}} {
		const count = 400000
		sum := 0.0
		for range count {
			sum += max(c.mean+c.sd*rng.NormFloat64()-c.best, 0)
		}
		got := improvement{c.best}.value(c.mean, c.sd)
		if math.Abs(got-sum/count) > 5*c.sd/630 {
			t.Errorf("%+v: EI %g, by simulation %g", c, got, sum/count)
		}
		if logarithm := (logImprovement{c.best}).value(c.mean, c.sd); math.Abs(math.Exp(logarithm)-got) > 1e-13*got {
			t.Errorf("%+v: exp(LogEI) %g, EI %g", c, math.Exp(logarithm), got)
		}
	}
}

func TestAcquisitionsWithoutVariance(t *testing.T) {
	p := oneObservation{[]float64{0.5}, 1, 0.3}
	x := []float64{0.5}
	tests := map[string]struct {
		f    Function
		want float64
	}{
		"ucb":        {UCB(p, 9), 1},
		"ei":         {EI(p, 0.25), 0.75},
		"no ei":      {EI(p, 1.5), 0},
		"log ei":     {LogEI(p, 0.25), math.Log(0.75)},
		"no log ei":  {LogEI(p, 1.5), math.Inf(-1)},
		"feasible":   {LogFeasibility(atMost(p, 1)), 0},
		"infeasible": {LogFeasibility(atMost(p, 0.9)), math.Inf(-1)},
		"too low":    {LogFeasibility(Limit{Predictor: p, Low: 1.1, High: 2}), math.Inf(-1)},
	}
	for name, test := range tests {
		grad := []float64{7}
		if got := test.f.Value(x); got != test.want {
			t.Errorf("%s: %g, want %g", name, got, test.want)
		}
		if got := test.f.Gradient(grad, x); got != test.want || grad[0] != 0 {
			t.Errorf("%s: Gradient returns %g and %g, want %g and 0", name, got, grad[0], test.want)
		}
	}
}

// Far below the best value EI is flat zero, while LogEI still leads uphill.
func TestLogEIClimbsWhereEIIsFlat(t *testing.T) {
	p := oneObservation{[]float64{0.9}, 3, 0.2}
	grad := make([]float64, 1)
	if value := EI(p, 60).Gradient(grad, []float64{0.6}); value != 0 || grad[0] != 0 {
		t.Errorf("EI is %g with slope %g; the test wants it to vanish", value, grad[0])
	}
	if LogEI(p, 60).Gradient(grad, []float64{0.6}); !(grad[0] < -1) {
		t.Errorf("LogEI has slope %g, want it to lead away from 0.9, to where more is possible", grad[0])
	}
}

// The mean and the lower bound are largest at the only observation, which is
// good; what explores goes elsewhere.
func TestMaximizeAcquisitions(t *testing.T) {
	space := floats(t, 2)
	p := oneObservation{[]float64{0.3, 0.6}, 1, 0.15}
	for name, test := range map[string]struct {
		f    Function
		want bool
	}{"mean": {Mean(p), true}, "lcb": {LCB(p, 1), true}, "ucb": {UCB(p, 9), false}, "log ei": {LogEI(p, 1), false}} {
		x, _, _ := Maximizer{Space: space, Workers: 1}.Maximize(t.Context(), test.f, nil, random.SeedOf(1).Stream("t", 0))
		distance := math.Hypot(x[0]-0.3, x[1]-0.6)
		if test.want != (distance < 1e-4) {
			t.Errorf("%s: maximum %v, %g from the observation", name, x, distance)
		}
	}
}

func TestBetaIsChecked(t *testing.T) {
	for _, beta := range []float64{-1, math.NaN()} {
		for name, f := range map[string]func(Predictor, float64) Function{"UCB": UCB, "LCB": LCB} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s accepts beta %g", name, beta)
					}
				}()
				f(oneObservation{}, beta)
			}()
		}
	}
}

func ExampleLogEI() {
	space, _ := task.NewSpace([]task.Parameter{{Name: "x", Kind: task.Float, Low: 0, High: 1}})
	objective := oneObservation{at: []float64{0.2}, y: 1, length: 0.2} // from gp.Posterior in earnest
	constraint := oneObservation{at: []float64{0.9}, y: 2, length: 0.3}
	f := Sum(LogEI(objective, 1), LogFeasibility(Limit{Predictor: constraint, Low: math.Inf(-1), High: 0.5}))
	x, _, _ := Maximizer{Space: space}.Maximize(context.Background(), f, nil, rand.New(rand.NewPCG(1, 2)))
	fmt.Printf("try %.2f\n", x[0])
	// Output: try 0.02
}
