package task

// What the key process may say.
const (
	learned = "learned"
	known   = "known"
)

const (
	maxKnown = 1e100 // of numbers in units of the objective, so that no square overflows

	// The noise of a known process, in deviations. Less than the least leaves nothing to
	// tell from rounding, and is as good as none.
	minKnownNoise = 0.001
	maxKnownNoise = 1000
)

func knownKeys() []string { return []string{"lengthscales", "mean", "deviation", "noise"} }

// process returns nil where the process is learned, and after an error.
func (m *Section) process(t *Task) *KnownProcess {
	if m.Word("process", learned, learned, known) != known {
		for _, key := range knownKeys() {
			m.Refuse(key, "process: "+known)
		}
		return nil
	}
	if t.Surrogate.Type != exact {
		if t.Surrogate.Type != "" { // which is an error already
			m.Errorf("process", "process: %s applies only with type: %s", known, exact)
		}
		m.Accept(knownKeys()...)
		return nil
	}
	k := &KnownProcess{
		Lengthscales: m.numbers("lengthscales", minLengthscale, maxLengthscale),
		Mean:         m.Required("mean", -maxKnown, maxKnown),
		Deviation:    m.Required("deviation", 1/maxKnown, maxKnown),
	}
	if t.Space != nil && k.Lengthscales != nil && len(k.Lengthscales) != t.Space.Len() {
		m.Errorf("lengthscales", "lengthscales must be one for each of the %d parameters, not %d", t.Space.Len(), len(k.Lengthscales))
	}
	before := len(m.d.errors)
	k.Noise = m.Required("noise", 0, maxKnown)
	if inside := k.Noise >= minKnownNoise*k.Deviation && k.Noise <= maxKnownNoise*k.Deviation; !inside && len(m.d.errors) == before && k.Deviation > 0 {
		m.Errorf("noise", "noise %s must be from %g to %g times the deviation, %s", formatFloat(k.Noise), minKnownNoise, float64(maxKnownNoise), formatFloat(k.Deviation))
	}
	return k
}

// canonical adds the keys of a known process to the section's; nil adds none, so that
// tasks without one keep their ID.
func (k *KnownProcess) canonical(form map[string]any) {
	if k == nil {
		return
	}
	form["process"] = known
	form["lengthscales"], form["mean"], form["deviation"], form["noise"] = k.Lengthscales, k.Mean, k.Deviation, k.Noise
}
