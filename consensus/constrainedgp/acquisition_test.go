package constrainedgp

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
)

// conditioned is the function to maximise with two peers' designs, away from what
// the agent has evaluated.
func conditioned(l *lab) *averageImprovement {
	l.t.Helper()
	far := l.designs(40, 1)
	view := l.view(l.designs(6, 2), bump(0.4))
	for i := 0; i+1 < len(far); i++ {
		if f, claims := l.considered(l.with(view, far[i:i+2]...), 3); len(claims) == 2 {
			return f
		}
	}
	l.t.Fatal("no two designs survive")
	return nil
}

// The average over samples must be what sampling f(x) too, jointly with f at the
// designs, gives. 200,000 joint draws, of which at least 1,000 meet the condition,
// and 6,000 samples of the condition leave a relative standard error of 3 % at
// most: a right function is within 10 % in all but one of 500 seeds. The test
// fails if the mean or the variance given a sample is replaced by the own one.
func TestValueIsWhatJointSamplingGives(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		t.Run(model, func(t *testing.T) {
			l := newLab(t, "maximize", plane, model, "none")
			view := l.view([][]float64{{0.3, 0.2}, {0.5, 0.3}, {0.2, 0.5}}, bump(0.4))
			designs := [][]float64{{0.9, 0.9}, {0.1, 0.95}}
			posterior := view.Posterior.(surrogate.JointPosterior)
			joint := posterior.Joint(designs)
			threshold := joint.Mean()[0] + math.Sqrt(joint.Covariance().At(0, 0))
			rng := random.SeedOf(8).Stream(model, 0)
			c := mustCondition(t, joint.Mean(), joint.Covariance(), threshold)
			f := &averageImprovement{posterior: posterior, joint: joint, condition: c, best: threshold - 0.1}
			for len(f.samples) < 6000 {
				f.samples = append(f.samples, c.gibbs(rng)...)
			}
			for _, x := range [][]float64{{0.8, 0.8}, {0.2, 0.8}, {0.5, 0.9}, {0.9, 0.7}} {
				want, met := sampledImprovement(t, posterior, append([][]float64{x}, designs...), threshold, f.best, 200000)
				if got := math.Exp(f.Value(x)); math.Abs(got/want-1) > 0.1 {
					t.Errorf("at %v: %g, sampled %g by %d draws", x, got, want, met)
				}
			}
		})
	}
}

// sampledImprovement is the average improvement over best at the first of the
// points, over joint samples in which all others exceed the threshold.
func sampledImprovement(t *testing.T, posterior surrogate.JointPosterior, points [][]float64, threshold, best float64, draws int) (average float64, met int) {
	t.Helper()
	joint := posterior.Joint(points)
	mean := joint.Mean()
	c := mustCondition(t, mean, joint.Covariance(), threshold)
	rng := random.SeedOf(9).Stream("t", 0)
	z, sum := make([]float64, len(points)), 0.0
draw:
	for range draws {
		for i := range z {
			z[i] = rng.NormFloat64()
			if i > 0 && dot(c.row(i), z) <= c.bound[i] {
				continue draw
			}
		}
		met++
		sum += max(mean[0]+dot(c.row(0), z)-best, 0)
	}
	if met < 1000 {
		t.Fatalf("only %d of %d draws meet the condition", met, draws)
	}
	return sum / float64(met), met
}

// The gradient is that of the value, also where every term underflows as a
// float64.
func TestGradient(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for name, parameters := range map[string]string{"plane": plane, "mixed": mixed} {
			for _, raised := range []float64{0, 60} {
				t.Run(model+"/"+name, func(t *testing.T) {
					l := newLab(t, "maximize", parameters, model, "none")
					f := conditioned(l)
					f.best += raised
					checkGradient(t, f, l.task.Space.Dim(), raised)
				})
			}
		}
	}
}

// Where EI is far from too small, both forms give the same average and slopes.
func TestFormsAgree(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	f := conditioned(l)
	for _, raised := range []float64{0, 1, 5} {
		f.best += raised
		for _, x := range l.designs(20, 9) {
			plain, logarithms := f.borrow(len(x)), f.borrow(len(x))
			mean, variance := f.posterior.Predict(x)
			value, sd := f.average(plain, x, mean, variance)
			copy(logarithms.solved, plain.solved)
			if got := f.averageOfLogarithms(logarithms, mean, sd); math.Abs(got-value) > 1e-9*(1+math.Abs(value)) {
				t.Fatalf("best raised by %g: %g, by logarithms %g", raised, value, got)
			}
			for i, want := range plain.terms {
				got := logarithms.terms[i]
				if math.Abs(got.byMean-want.byMean) > 1e-9*(1+want.byMean) || math.Abs(got.bySD-want.bySD) > 1e-9*(1+want.bySD) {
					t.Fatalf("best raised by %g: a sample's slopes %v, by logarithms %v", raised, want, got)
				}
			}
		}
	}
}

func checkGradient(t *testing.T, f acquisition.Function, dim int, raised float64) {
	rapid.Check(t, func(rt *rapid.T) {
		x := make([]float64, dim)
		for i := range x {
			x[i] = rapid.Float64Range(0, 1).Draw(rt, "x")
		}
		grad := slices.Repeat([]float64{math.NaN()}, dim)
		value := f.Gradient(grad, x)
		if plain := f.Value(x); math.Abs(value-plain) > 1e-9*(1+math.Abs(plain)) || math.IsInf(value, 0) || math.IsNaN(value) {
			rt.Fatalf("value %g, with the gradient %g", plain, value)
		}
		if raised > 0 && value > -100 {
			rt.Fatalf("value %g, which does not test the tail", value)
		}
		fbotest.CheckGradient(rt, grad, x, f.Value, 1e-3)
	})
}

// No sample moves the mean by more than the deviation of the own posterior times
// its length: peers change nothing where the agent is sure.
func TestInfluenceIsBoundedByOwnUncertainty(t *testing.T) {
	l := newLab(t, "maximize", mixed, "exact", "none")
	f := conditioned(l)
	rapid.Check(t, func(rt *rapid.T) {
		x := make([]float64, l.task.Space.Dim())
		for i := range x {
			x[i] = rapid.Float64Range(0, 1).Draw(rt, "x")
		}
		_, variance := f.posterior.Predict(x)
		a := make([]float64, f.condition.k)
		f.joint.Cross(a, x)
		f.condition.forward(a)
		for _, z := range f.samples {
			if moved := math.Abs(dot(z, a)); moved > math.Sqrt(variance*dot(z, z))+1e-9 {
				rt.Fatalf("moved by %g, deviation %g, length of the sample %g", moved, math.Sqrt(variance), math.Sqrt(dot(z, z)))
			}
		}
	})
}

// Where no sample leaves anything to gain, and no variance, there is no slope.
func TestNothingToGain(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	f := conditioned(l)
	f.posterior = sure{f.posterior}
	grad := []float64{math.NaN(), math.NaN()}
	if value := f.Gradient(grad, []float64{0.5, 0.5}); !math.IsInf(value, -1) || grad[0] != 0 || grad[1] != 0 {
		t.Errorf("value %g, gradient %v", value, grad)
	}
}

// sure is certain to lie far below anything.
type sure struct{ surrogate.Posterior }

func (sure) Predict([]float64) (mean, variance float64) { return -1000, 0 }

func (sure) PredictGradient(byMean, byVariance, _ []float64) (mean, variance float64) {
	clear(byMean)
	clear(byVariance)
	return -1000, 0
}
