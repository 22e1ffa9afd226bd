package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing/fstest"
	"time"

	"github.com/fbo-node/fbo/task"
)

// addLooking adds the tools that change nothing.
func (s *server) addLooking() {
	add(s, "list_tasks", "List your tasks, with the number of trials in each state.", looks, s.listTasks)
	add(s, "get_task", "Show a task: parameters with their ranges, goal, constraints, strategy.", looks, s.getTask)
	add(s, "check_task", "Check the text of a task file and show its meaning, without joining it. The error names line, column and the accepted values.", looks, s.checkTask)
	add(s, "status", "Show the state of a task: number of trials, best trial, what an ask waits for, number of connected peers.", looks, s.status)
	add(s, "history", "List the trials that this node has measured, in order of ID.", looks, s.history)
	add(s, "best", "Show the best feasible trial so far, and under noise the recommended design.", looks, s.best)
	add(s, "front", "Show the Pareto front of a task with several objectives.", looks, s.front)
	add(s, "importance", "Show which parameters matter, by this node's model. It takes as long as a suggestion.", looks, s.importance)
	add(s, "list_queue", "List the designs that are evaluated before the strategy chooses any.", looks, s.listQueue)
}

// TaskList is the output of list_tasks.
type TaskList struct {
	Tasks []TaskLine `json:"tasks"`
}

func (s *server) listTasks(ctx context.Context, _ struct{}) (list TaskList, err error) {
	err = s.get(ctx, "/v1/tasks", &list)
	list.Tasks = slices.DeleteFunc(list.Tasks, func(t TaskLine) bool { return !s.permits(t.ID) })
	return list, err
}

// Task is the output of get_task.
type Task struct {
	TaskLine
	File json.RawMessage `json:"task" jsonschema:"the task with all defaults, its description and units"`
}

func (s *server) getTask(ctx context.Context, in InTask) (t Task, err error) {
	err = s.getOf(ctx, in, "", &t)
	return t, err
}

// TaskText is the input of check_task and create_task.
type TaskText struct {
	Text string `json:"text" jsonschema:"the task file, in YAML or JSON, such as: {name: bowl, goal: minimize, parameters: [{name: x, type: float, low: -2, high: 2}]}"`
}

func (s *server) checkTask(_ context.Context, in TaskText) (Checked, error) {
	// The folder of the file is empty: a task file cannot name files of this machine.
	t, err := s.options.Strategies.ParseBeside(fstest.MapFS{}, "text", []byte(in.Text))
	if err != nil {
		return Checked{}, err
	}
	return s.describe(t)
}

func (s *server) describe(t *task.Task) (Checked, error) {
	r, err := s.options.Strategies.Of(t)
	if err != nil {
		return Checked{}, err
	}
	rung := r.Rung(t)
	c := Checked{
		ID: t.ID().String(), Name: t.Name, File: t.File(),
		Designs: fmt.Sprintf("%d random designs, then %s", t.Strategy.InitialDesigns, r.Summary(t)),
		Sharing: fmt.Sprintf("%s: %s", rung, rung.Content()),
	}
	if reveals := r.Disclosure(t).Reveals; reveals != nil {
		c.Reveals = reveals(t)
	}
	return c, nil
}

// Status is the output of status.
type Status struct {
	Task      string         `json:"task"`
	Name      string         `json:"name"`
	Trials    map[string]int `json:"trials" jsonschema:"number of trials in each state"`
	Best      *Trial         `json:"best" jsonschema:"the best feasible trial; null while there is none"`
	WaitsFor  string         `json:"waits_for,omitempty" jsonschema:"why the oldest ask has no answer yet"`
	Computing bool           `json:"computing,omitempty" jsonschema:"a model, a share or a design is being computed"`
	Peers     int            `json:"peers" jsonschema:"number of connected peers on this task"`
}

func (s *server) status(ctx context.Context, in InTask) (Status, error) {
	var answer struct {
		Status
		Best  *shown            `json:"best"`
		Peers []json.RawMessage `json:"peers"` // counted only: they have addresses
	}
	err := s.getOf(ctx, in, "/status", &answer)
	status := answer.Status
	status.Best, status.Peers = s.trial(answer.Best), len(answer.Peers)
	return status, err
}

// trial returns a trial of an answer; nil if there is none.
func (s *server) trial(t *shown) *Trial {
	if t == nil {
		return nil
	}
	one := t.of(s.options.Client)
	return &one
}

// HistoryInput is the input of history.
type HistoryInput struct {
	InTask
	After uint64 `json:"after,omitempty" jsonschema:"only trials with a larger ID"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of trials, 1 to 200; default 20"`
	State string `json:"state,omitempty" jsonschema:"only trials in this state: waiting, running, done, failed or stopped"`
}

// History is the output of history.
type History struct {
	Trials []Trial `json:"trials"`
	Next   uint64  `json:"next,omitempty" jsonschema:"there are more: the value of after for the next page"`
}

func (s *server) history(ctx context.Context, in HistoryInput) (History, error) {
	if in.Limit == 0 {
		in.Limit = defaultPage
	}
	if in.Limit < 1 || in.Limit > maxPage {
		return History{}, fmt.Errorf("limit %d: expected 1 to %d", in.Limit, maxPage)
	}
	query := url.Values{"after": {fmt.Sprint(in.After)}, "limit": {fmt.Sprint(in.Limit)}}
	if in.State != "" {
		query.Set("state", in.State)
	}
	var page struct {
		Trials []shown `json:"trials"`
		Next   uint64  `json:"next"`
	}
	err := s.getOf(ctx, in.InTask, "/trials?"+query.Encode(), &page)
	return History{trialsOf(page.Trials, s.options.Client), page.Next}, err
}

// Best is the output of best.
type Best struct {
	Trial       *Trial       `json:"trial" jsonschema:"the best observed one; null while no trial is feasible"`
	Recommended *Recommended `json:"recommended,omitempty" jsonschema:"a preferable design, only where outcomes are noisy"`
}

// Recommended is the design with the best predicted objective.
type Recommended struct {
	Parameters map[string]json.RawMessage `json:"parameters"`
	Predicted  *float64                   `json:"predicted,omitempty" jsonschema:"the objective there, by this node's model"`
	Reason     string                     `json:"reason,omitempty"`
}

func (s *server) best(ctx context.Context, in InTask) (Best, error) {
	var answer struct {
		Trial       *shown       `json:"trial"`
		Recommended *Recommended `json:"recommended"`
	}
	err := s.getOf(ctx, in, "/best", &answer)
	return Best{s.trial(answer.Trial), answer.Recommended}, err
}

// Front is the output of front.
type Front struct {
	Objectives  []string `json:"objectives" jsonschema:"names of the objectives; empty for a task with one"`
	Hypervolume *float64 `json:"hypervolume,omitempty" jsonschema:"only where each objective has a reference"`
	Trials      []Trial  `json:"trials" jsonschema:"the feasible trials that no other one dominates"`
}

func (s *server) front(ctx context.Context, in InTask) (Front, error) {
	var answer struct {
		Front
		Trials []shown `json:"trials"`
	}
	err := s.getOf(ctx, in, "/front", &answer)
	front := answer.Front
	front.Trials = trialsOf(answer.Trials, s.options.Client)
	return front, err
}

// Importance is the output of importance.
type Importance struct {
	Outcomes   int                   `json:"outcomes" jsonschema:"number of outcomes that the model uses"`
	Importance []ParameterImportance `json:"importance" jsonschema:"empty while there is no model"`
}

// ParameterImportance is the importance of one parameter.
type ParameterImportance struct {
	Parameter  string  `json:"parameter"`
	Importance float64 `json:"importance" jsonschema:"the part of the variance of the model's mean that remains while only this parameter is unknown"`
}

func (s *server) importance(ctx context.Context, in InTask) (i Importance, err error) {
	err = s.getOf(ctx, in, "/model?points=2", &i) // slices, which are left out, need at least two
	return i, err
}

// Queue is the output of list_queue.
type Queue struct {
	Queued []Queued `json:"queued"`
}

// Queued is a design that waits.
type Queued struct {
	ID         uint64                     `json:"id,omitempty" jsonschema:"absent for a design from the start of the node, which cannot be withdrawn"`
	Parameters map[string]json.RawMessage `json:"parameters"`
	Enqueued   time.Time                  `json:"enqueued,omitzero"`
}

func (s *server) listQueue(ctx context.Context, in InTask) (q Queue, err error) {
	err = s.getOf(ctx, in, "/queue", &q)
	return q, err
}
