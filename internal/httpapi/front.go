package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

type frontBody struct {
	Objectives  []string      `json:"objectives" nullable:"false" doc:"The names of the objectives: the first is the value of an outcome, the others are metrics. Empty for a task with one objective."`
	Hypervolume *float64      `json:"hypervolume,omitempty" doc:"Of the front over the task's references; only where the task states one for each objective."`
	History     []volumeAfter `json:"history,omitempty" nullable:"false" doc:"Trials, in order, with which the hypervolume grew, and its value after each; at most 100, the last included. Only with hypervolume."`
	Trials      []trial       `json:"trials" nullable:"false"`
}

// volumeAfter is the hypervolume after a trial that increased it.
type volumeAfter struct {
	Trial       uint64  `json:"trial"`
	Hypervolume float64 `json:"hypervolume"`
}

func (a *api) front(ctx context.Context, in *InTask) (*answer[frontBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, problem(err)
	}
	return answerOf(frontOf(t.Session().Task(), trials))
}

// front answers for a stopped node.
func (s *stopped) front(w http.ResponseWriter, _ *http.Request, p Past) {
	body, err := frontOf(p.Task, p.Trials)
	respond(w, body, err)
}

func frontOf(t *task.Task, trials []strategy.Trial) (frontBody, error) {
	body := frontBody{Objectives: objectivesOf(t), Trials: []trial{}}
	if !t.Several() {
		body.Objectives = []string{}
		return body, nil
	}
	for _, one := range strategy.SortedFront(t, trials) {
		shown, err := trialOf(*one, time.Time{})
		if err != nil {
			return frontBody{}, err
		}
		body.Trials = append(body.Trials, shown)
	}
	if volume, ok := strategy.Hypervolume(t, trials); ok {
		body.Hypervolume, body.History = &volume, volumes(t, trials)
	}
	return body, nil
}

// objectivesOf returns the names of several objectives, none of one.
func objectivesOf(t *task.Task) (names []string) {
	for _, o := range t.Objectives {
		names = append(names, o.Name)
	}
	return names
}

// maxVolumes is the maximum number of entries of a history of the hypervolume.
const maxVolumes = 100

// volumes returns how the hypervolume grew: after each trial that joined the front, or after some of them at
// equal distances, the last included.
func volumes(t *task.Task, trials []strategy.Trial) []volumeAfter {
	var joined []int // trials that joined the front, by their places
	growing(t, trials, func(i int, _ [][]float64) { joined = append(joined, i) })
	chosen := map[int]bool{}
	count := min(len(joined), maxVolumes)
	for k := range count {
		chosen[joined[(k+1)*len(joined)/count-1]] = true
	}
	grown, reference, before := []volumeAfter{}, t.References(), 0.0
	growing(t, trials, func(i int, front [][]float64) {
		if !chosen[i] {
			return
		}
		if volume := pareto.Hypervolume(front, reference); volume > before {
			grown, before = append(grown, volumeAfter{trials[i].ID, volume}), volume
		}
	})
	return grown
}

// growing calls joins for each trial that joins the front of those before it, with the scores of the front
// then, which joins may not keep.
func growing(t *task.Task, trials []strategy.Trial, joins func(i int, front [][]float64)) {
	covers := func(a, b []float64) bool {
		for k := range a {
			if a[k] < b[k] {
				return false
			}
		}
		return true
	}
	var front [][]float64
	for i, trial := range trials {
		if trial.State != strategy.Done || !t.Feasible(trial.Outcome) {
			continue
		}
		scores, ok := t.Scores(trial.Outcome)
		if !ok || slices.ContainsFunc(front, func(other []float64) bool { return covers(other, scores) }) {
			continue
		}
		front = append(slices.DeleteFunc(front, func(other []float64) bool { return covers(scores, other) }), scores)
		joins(i, front)
	}
}
