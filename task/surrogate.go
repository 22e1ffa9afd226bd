package task

import (
	"math"
	"slices"
	"strconv"
)

// SurrogateExtension identifies an extension of the surrogate, by a key and its value in the
// section surrogate. With an extension, the exact Gaussian process of the objective also learns
// from peers' shares, whatever the strategy.
type SurrogateExtension struct {
	Key  string // "type" or "hyperparameters"
	Word string // value of the key
}

// String returns the extension as a line of the task file.
func (e SurrogateExtension) String() string { return e.Key + ": " + e.Word }

// Extended reports whether the surrogate has an extension.
func (s Surrogate) Extended() bool { return s.Extension != SurrogateExtension{} }

// Word returns the value of the key type in the task file.
func (s Surrogate) Word() string {
	if s.Extension.Key == typeKey {
		return s.Extension.Word
	}
	return s.Type
}

// extensions returns the extensions with the given key that any of the strategies supports, each
// once.
func (d *decoder) extensions(key string) (list []SurrogateExtension) {
	for _, known := range d.strategies {
		for _, e := range known.Extensions {
			if e.Key == key && !slices.Contains(list, e) {
				list = append(list, e)
			}
		}
	}
	return list
}

// extensible reads a key whose value is a standard word or the word of an extension. In the second
// case it sets the surrogate's extension.
func (m *Section) extensible(t *Task, key, standard string, words ...string) string {
	extensions := m.d.extensions(key)
	for _, e := range extensions {
		words = append(words, e.Word)
	}
	word := m.Word(key, standard, words...)
	if e := (SurrogateExtension{key, word}); slices.Contains(extensions, e) {
		t.Surrogate.Extension = e
	}
	return word
}

const (
	exact = "exact"
	rff   = "rff"

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
	if s.Type = m.extensible(t, typeKey, exact, exact, rff); s.Extended() {
		s.Type = exact
	}
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

// featuresFor returns the default number M of features. It is twice as large from five parameters
// on, since shared features approximate functions of more parameters less well; docs/experiments.md
// shows the effect.
func featuresFor(parameters int) int {
	if parameters <= fewParameters {
		return fewFeatures
	}
	return manyFeatures
}

// lengthscaleFor returns the default lengthscale of the shared features for n parameters: the
// smaller of n/10 and sqrt(n)/2, which changes at n = 25. With it, shares fit functions with
// lengthscales between 0.1·sqrt(n) and sqrt(n) about as well as with the best choice (see
// BenchmarkSharedBasis in rff). Rounding to six digits makes the canonical form independent of the
// CPU, and is precise enough.
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
	if e := t.Surrogate.Extension; t.Surrogate.Extended() { // without an extension nothing is added, so tasks without one keep their ID
		form[e.Key] = e.Word
	}
	return form
}
