package task

// The key hyperparameters and its values.
const (
	hyperparametersKey = "hyperparameters"
	learned            = "learned"
	fixed              = "fixed"
)

const (
	maxFixed = 1e100 // limit of numbers in the objective's units, so that no square overflows

	// Limits of the standard deviation of fixed noise, relative to the standard deviation of the
	// signal. Noise below the minimum is within rounding errors and has no effect.
	minFixedNoise = 0.001
	maxFixedNoise = 1000
)

func fixedKeys() []string { return []string{"lengthscales", "mean", "signal_std", "noise_std"} }

// hyperparameters reads the key hyperparameters and, if it is "fixed", the keys with the values.
func (m *Section) hyperparameters(t *Task) {
	s := &t.Surrogate
	byType := s.Extension // extension by the key type; only one extension is allowed, and this one has priority
	how := m.extensible(t, hyperparametersKey, learned, learned, fixed)
	if how != fixed {
		for _, key := range fixedKeys() {
			m.Refuse(key, hyperparametersKey+": "+fixed)
		}
	}
	switch {
	case how == "" || how == learned:
	case s.Type == exact && byType == SurrogateExtension{} && how == fixed:
		s.Fixed = m.fixed(t)
	case s.Type == exact && byType == SurrogateExtension{}:
	default:
		s.Extension = byType
		if s.Type != "" { // otherwise an error about the type was already reported
			m.Errorf(hyperparametersKey, "hyperparameters: %s applies only with type: %s", how, exact)
		}
		m.Accept(fixedKeys()...)
	}
}

// fixed reads the keys with the values of fixed hyperparameters.
func (m *Section) fixed(t *Task) *FixedHyperparameters {
	f := &FixedHyperparameters{
		Lengthscales: m.numbers("lengthscales", minLengthscale, maxLengthscale),
		Mean:         m.Required("mean", -maxFixed, maxFixed),
		SignalStd:    m.Required("signal_std", 1/maxFixed, maxFixed),
	}
	if t.Space != nil && f.Lengthscales != nil && len(f.Lengthscales) != t.Space.Len() {
		m.Errorf("lengthscales", "lengthscales must be one for each of the %d parameters, not %d", t.Space.Len(), len(f.Lengthscales))
	}
	before := len(m.d.errors)
	f.NoiseStd = m.Required("noise_std", 0, maxFixed)
	if inside := f.NoiseStd >= minFixedNoise*f.SignalStd && f.NoiseStd <= maxFixedNoise*f.SignalStd; !inside && len(m.d.errors) == before && f.SignalStd > 0 {
		m.Errorf("noise_std", "noise_std %s must be from %g to %g times signal_std, %s", formatFloat(f.NoiseStd), minFixedNoise, float64(maxFixedNoise), formatFloat(f.SignalStd))
	}
	return f
}

// canonical adds the fixed hyperparameters to the canonical form of the section. Nil adds nothing,
// so tasks without fixed hyperparameters keep their ID.
func (f *FixedHyperparameters) canonical(form map[string]any) {
	if f == nil {
		return
	}
	form[hyperparametersKey] = fixed
	form["lengthscales"], form["mean"], form["signal_std"], form["noise_std"] = f.Lengthscales, f.Mean, f.SignalStd, f.NoiseStd
}
