package strategy

import (
	"slices"

	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/task"
)

// Front returns the Pareto front of a task with several objectives: the feasible trials whose outcome
// no other feasible outcome dominates, in the order of trials. Of trials with equal values it has the
// first. The results point into trials.
func Front(t *task.Task, trials []Trial) (front []*Trial) {
	var feasible []*Trial
	var scores [][]float64
	for i := range trials {
		trial := &trials[i]
		if trial.State != Done || !t.Feasible(trial.Outcome) {
			continue
		}
		if s, ok := t.Scores(trial.Outcome); ok {
			feasible, scores = append(feasible, trial), append(scores, s)
		}
	}
	for _, i := range pareto.Front(scores) {
		front = append(front, feasible[i])
	}
	return front
}

// SortedFront returns the designs of Front in the order of the first objective, the best first.
func SortedFront(t *task.Task, trials []Trial) []*Trial {
	front := Front(t, trials)
	slices.SortStableFunc(front, func(a, b *Trial) int { return t.Compare(b.Outcome, a.Outcome) })
	return front
}

// Hypervolume returns the hypervolume of the Pareto front of the trials over the task's references, in
// the product of the objectives' units. ok is false unless the task states a reference for each
// objective.
func Hypervolume(t *task.Task, trials []Trial) (volume float64, ok bool) {
	for _, o := range t.Objectives {
		if o.Reference == nil {
			return 0, false
		}
	}
	var scores [][]float64
	for _, trial := range Front(t, trials) {
		s, _ := t.Scores(trial.Outcome)
		scores = append(scores, s)
	}
	return pareto.Hypervolume(scores, t.References()), t.Several()
}
