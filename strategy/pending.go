package strategy

import "slices"

// WithoutPending returns the view without trials that run or wait. What rests on it rests on
// outcomes, and peers cannot read from it what is being evaluated.
func (v View) WithoutPending() View {
	pending := func(t Trial) bool { return t.State == Running || t.State == Waiting }
	if slices.ContainsFunc(v.Trials, pending) {
		v.Trials = slices.DeleteFunc(slices.Clone(v.Trials), pending)
	}
	return v
}
