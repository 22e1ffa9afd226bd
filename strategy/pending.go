package strategy

import "slices"

// WithoutPending returns the view without running and waiting trials. Shares that are computed from
// the result depend on outcomes only. They do not disclose which designs are being evaluated.
func (v View) WithoutPending() View {
	pending := func(t Trial) bool { return t.State == Running || t.State == Waiting }
	if slices.ContainsFunc(v.Trials, pending) {
		v.Trials = slices.DeleteFunc(slices.Clone(v.Trials), pending)
	}
	return v
}
