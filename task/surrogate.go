package task

import (
	"math"
	"strconv"
)

// SharedLatent is the type of surrogate for which nodes tell each other what their results
// say of a latent function in common.
const SharedLatent = "shared-latent"

const (
	exact = "exact"

	fewFeatures   = 256
	manyFeatures  = 512
	fewParameters = 4

	defaultCategoryLengthscale = 1

	maxFeatures    = 4096
	minLengthscale = 0.001
	maxLengthscale = 1000
)

func surrogateSection() section {
	return section{key: "surrogate", parse: parseSurrogate, canonical: canonicalSurrogate}
}

func parseSurrogate(m *Section, t *Task) {
	parameters := 1
	if t.Space != nil {
		parameters = t.Space.Len()
	}
	s := &t.Surrogate
	s.Type = m.Word("type", exact, exact, "rff", SharedLatent)
	m.hyperparameters(t)
	s.Kernel = m.Word("kernel", "matern52", "matern52", "se")
	s.Features = m.Whole("features", featuresFor(parameters), 2, maxFeatures)
	if s.Features%2 != 0 {
		m.Errorf("features", "features %d must be even: they come in pairs of cosine and sine", s.Features)
	}
	s.Basis = m.Word("basis", "quasi", "quasi", "orthogonal", "plain", "random-phase")
	s.Lengthscale = m.Within("lengthscale", lengthscaleFor(parameters), minLengthscale, maxLengthscale)
	s.CategoryLengthscale = m.Within("category_lengthscale", defaultCategoryLengthscale, minLengthscale, maxLengthscale)
	m.finish()
}

// featuresFor is twice as many from five parameters on, where the shared features fit
// what agents know the worse the more parameters there are: docs/experiments.md has
// what that is worth.
func featuresFor(parameters int) int {
	if parameters <= fewParameters {
		return fewFeatures
	}
	return manyFeatures
}

// lengthscaleFor is a tenth of the number of parameters, and from 25 on half its
// square root: with either, what agents share fits functions of lengthscales
// between 0.1 and 1 times that root about as well as with the best choice (see
// BenchmarkSharedBasis in rff). Six digits are enough, and keep the canonical
// form free of any CPU's last bit.
func lengthscaleFor(parameters int) float64 {
	n := float64(parameters)
	return mustFloat(strconv.FormatFloat(min(n/10, math.Sqrt(n)/2), 'e', 5, 64))
}

func canonicalSurrogate(t *Task) any {
	form := map[string]any{
		"type":                 t.Surrogate.Type,
		"kernel":               t.Surrogate.Kernel,
		"features":             t.Surrogate.Features,
		"basis":                t.Surrogate.Basis,
		"lengthscale":          t.Surrogate.Lengthscale,
		"category_lengthscale": t.Surrogate.CategoryLengthscale,
	}
	t.Surrogate.Fixed.canonical(form)
	if t.Surrogate.SharedHyperparameters { // others keep their ID
		form[hyperparametersKey] = shared
	}
	return form
}
