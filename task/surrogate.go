package task

import (
	"math"
	"strconv"
)

const (
	defaultFeatures            = 256
	defaultLengthscale         = 0.3 // times the square root of the number of parameters
	defaultCategoryLengthscale = 1

	maxFeatures    = 4096
	minLengthscale = 0.001
	maxLengthscale = 1000
)

func surrogateSection() section {
	return section{key: "surrogate", parse: parseSurrogate, canonical: canonicalSurrogate}
}

func parseSurrogate(m *mapping, t *Task) {
	parameters := 1
	if t.Space != nil {
		parameters = t.Space.Len()
	}
	s := &t.Surrogate
	s.Type = m.word("type", "exact", "exact", "rff")
	s.Kernel = m.word("kernel", "matern52", "matern52", "se")
	s.Features = m.whole("features", defaultFeatures, 2, maxFeatures)
	if s.Features%2 != 0 {
		m.errorf(m.valueAt("features"), "features %d must be even: they come in pairs of cosine and sine", s.Features)
	}
	s.Lengthscale = m.within("lengthscale", lengthscaleFor(parameters), minLengthscale, maxLengthscale)
	s.CategoryLengthscale = m.within("category_lengthscale", defaultCategoryLengthscale, minLengthscale, maxLengthscale)
	m.finish()
}

// lengthscaleFor grows with the diagonal of the cube, since typical distances do.
// Six digits are enough, and keep the canonical form free of any CPU's last bit.
func lengthscaleFor(parameters int) float64 {
	return mustFloat(strconv.FormatFloat(defaultLengthscale*math.Sqrt(float64(parameters)), 'e', 5, 64))
}

func canonicalSurrogate(t *Task) any {
	return map[string]any{
		"type":                 t.Surrogate.Type,
		"kernel":               t.Surrogate.Kernel,
		"features":             t.Surrogate.Features,
		"lengthscale":          t.Surrogate.Lengthscale,
		"category_lengthscale": t.Surrogate.CategoryLengthscale,
	}
}
