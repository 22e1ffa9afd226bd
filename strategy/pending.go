package strategy

import "slices"

// WithoutPending returns the view without trials that run or wait. Shares computed from it depend
// on outcomes only, and do not disclose to peers which designs are being evaluated.
func (v View) WithoutPending() View {
	pending := func(t Trial) bool { return t.State == Running || t.State == Waiting }
	if slices.ContainsFunc(v.Trials, pending) {
		v.Trials = slices.DeleteFunc(slices.Clone(v.Trials), pending)
	}
	return v
}
