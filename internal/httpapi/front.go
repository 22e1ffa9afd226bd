package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

type frontBody struct {
	Objectives  []string      `json:"objectives" nullable:"false" doc:"The names of the objectives: the first is the value of an outcome, the others are metrics. Empty for a task with one objective."`
	Hypervolume *float64      `json:"hypervolume,omitempty" doc:"Of the front over the task's references; only where the task states one for each objective."`
	History     []volumeAfter `json:"history,omitempty" nullable:"false" doc:"The trials, in order, with which the hypervolume grew, and its value after each; only with hypervolume."`
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

// volumes returns how the hypervolume grew. It computes it for the front of the trials so far, and only
// when a trial has joined the front.
func volumes(t *task.Task, trials []strategy.Trial) []volumeAfter {
	grown, front := []volumeAfter{}, []strategy.Trial(nil)
	for _, one := range trials {
		next := []strategy.Trial{}
		for _, kept := range strategy.Front(t, append(front[:len(front):len(front)], one)) {
			next = append(next, *kept)
		}
		if len(next) == 0 || next[len(next)-1].ID != one.ID {
			continue // no trial has left the front either
		}
		front = next
		before := 0.0
		if len(grown) > 0 {
			before = grown[len(grown)-1].Hypervolume
		}
		if volume, _ := strategy.Hypervolume(t, front); volume > before {
			grown = append(grown, volumeAfter{one.ID, volume})
		}
	}
	return grown
}
