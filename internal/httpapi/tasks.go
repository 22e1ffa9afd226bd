package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/strategy"
)

// InTask holds the path parameters of a task.
type InTask struct {
	Task string `path:"task" minLength:"1" doc:"The task's ID, its first characters (8 or more) or its name, where only one task has them."`
}

type taskLine struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Goal       string         `json:"goal" enum:"minimize,maximize" doc:"Of the objective; of several, the goal of the first."`
	Objectives []string       `json:"objectives,omitempty" nullable:"false" doc:"The names of several objectives. The first is the value of an outcome, the others are metrics of it."`
	Trials     map[string]int `json:"trials" doc:"How many there are in each state."`
}

type taskBody struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Goal       string         `json:"goal" enum:"minimize,maximize" doc:"Of the objective; of several, the goal of the first."`
	Objectives []string       `json:"objectives,omitempty" nullable:"false" doc:"The names of several objectives. The first is the value of an outcome, the others are metrics of it."`
	Trials     map[string]int `json:"trials" doc:"How many there are in each state."`
	File       object         `json:"task" doc:"The task, defaults filled in, with description, unit, tags and default, which are not part of its ID."`
}

type orderBody struct {
	Text         string            `json:"text,omitempty" nullable:"true" minLength:"1" doc:"A task file, in YAML or JSON. One of this, task and join."`
	Task         object            `json:"task,omitempty" nullable:"true" doc:"The same as an object."`
	Join         string            `json:"join,omitempty" nullable:"true" doc:"The string of fbo-node task invite. The node gets the task from a node that works on it."`
	Tables       map[string]string `json:"tables,omitempty" nullable:"true" doc:"The files of designs that the task file names, by name."`
	Enqueue      []object          `json:"enqueue,omitempty" nullable:"true" maxItems:"10000" doc:"Designs to evaluate first, such as today's settings."`
	PriorDesigns []object          `json:"prior_designs,omitempty" nullable:"true" maxItems:"10000" doc:"Designs that are expected to be good, for strategies that use them."`
	Seed         *uint64           `json:"seed,omitempty" nullable:"true" format:"uint64" doc:"Makes this node's random decisions repeatable."`
	Invitation   string            `json:"invitation,omitempty" nullable:"true" doc:"The invitation that the task's nodes have."`
}

// field returns the field with the task.
func (b orderBody) field() string {
	if b.Task != nil {
		return "task"
	}
	return "text"
}

func (b orderBody) order() (trialserver.Order, error) {
	given := 0
	for _, is := range []bool{b.Text != "", b.Task != nil, b.Join != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return trialserver.Order{}, invalid("body", errors.New("expected either a text, an object in task, or a string in join"))
	case b.Join != "" && b.Invitation != "":
		return trialserver.Order{}, invalid("body.invitation", errors.New("expected none: the string in join has the invitation, or leads to it"))
	case b.Join != "" && len(b.Tables) > 0:
		return trialserver.Order{}, invalid("body.tables", errors.New("expected none: the task of the string in join names no files"))
	}
	raw := func(objects []object) (all []json.RawMessage) {
		for _, o := range objects {
			all = append(all, json.RawMessage(o))
		}
		return all
	}
	o := trialserver.Order{Text: b.Text, Tables: b.Tables, Enqueue: raw(b.Enqueue), PriorDesigns: raw(b.PriorDesigns), Seed: b.Seed}
	if b.Task != nil {
		o.Text = string(b.Task)
	}
	return o, nil
}

// exampleTask is a task file in the description.
const exampleTask = "name: example\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: -2, high: 2}\n"

func (a *api) addTasks() {
	huma.Register(a.API, op(http.MethodGet, "/v1/node", "get-node", "Who answers"), a.getNode)
	huma.Register(a.API, op(http.MethodGet, "/v1/tasks", "list-tasks", "List the tasks that the node serves"), a.listTasks)
	huma.Register(a.API, op(http.MethodGet, "/v1/known-tasks", "list-known-tasks", "List all tasks in the node's data directory, served or not, the latest change first"), a.listKnown)
	create := large(op(http.MethodPost, "/v1/tasks", "create-task", "Join a task, until it is left, also after restarts. One that is served already stays as it is. Statuses 404, 410, 502 and 504 are only for join.", append([]int{http.StatusConflict}, joinErrors...)...))
	body := map[string]*huma.MediaType{"application/json": {Schema: a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[taskBody](), true, "")}}
	create.Responses = map[string]*huma.Response{"200": {Description: "It is served already", Content: body}, "201": {Description: "It is joined", Content: body}}
	create.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Example: map[string]any{"text": exampleTask}}}}
	huma.Register(a.API, create, a.createTask)
	huma.Register(a.API, op(http.MethodPost, "/v1/joins/preview", "preview-join", "Show the task of a string, and join nothing. The string of a guest then has one use less, which a join by this node takes.", append([]int{http.StatusConflict}, joinErrors...)...), a.previewJoin)
	huma.Register(a.API, op(http.MethodGet, "/v1/tasks/{task}", "get-task", "Show a task", http.StatusNotFound), a.getTask)
	leave := op(http.MethodDelete, "/v1/tasks/{task}", "leave-task", "Leave a task. What is known of it stays on the disk.", http.StatusNotFound, http.StatusConflict)
	leave.DefaultStatus = http.StatusNoContent
	huma.Register(a.API, leave, a.leaveTask)
}

type nodeBody struct {
	Version   string   `json:"version"`
	PeerID    string   `json:"peer_id"`
	Addresses []string `json:"addresses" nullable:"false" doc:"Under which other nodes may reach it."`
	Tasks     int      `json:"tasks" doc:"That are joined."`
	Starting  string   `json:"starting,omitempty" doc:"How many of the tasks of the last start are joined, until all are."`

	Stopped     bool `json:"stopped,omitempty" doc:"Whether no node runs, and its journal is shown; only for the page of fbo-node web."`
	UntilUnused bool `json:"until_unused" doc:"Whether it ends with the last program that uses it (serve --until-unused)."`
}

type answer[T any] struct{ Body T }

func answerOf[T any](body T, err error) (*answer[T], error) {
	if err != nil {
		return nil, problem(err)
	}
	return &answer[T]{body}, nil
}

func (a *api) getNode(context.Context, *struct{}) (*answer[nodeBody], error) {
	n := a.server.Node()
	body := nodeBody{Version: a.options.Version, PeerID: n.ID().String(), Addresses: append([]string{}, n.Addresses()...), Tasks: len(a.server.Tasks()), UntilUnused: a.options.UntilUnused}
	if starting := a.server.Starting(); starting != nil {
		body.Starting = starting.Error()
	}
	return &answer[nodeBody]{body}, nil
}

type tasksBody struct {
	Tasks []taskLine `json:"tasks" nullable:"false"`
}

func (a *api) listTasks(ctx context.Context, _ *struct{}) (*answer[tasksBody], error) {
	list := tasksBody{Tasks: []taskLine{}}
	for _, t := range a.server.Tasks() {
		line, err := lineOf(ctx, t)
		if err != nil {
			return nil, problem(err)
		}
		list.Tasks = append(list.Tasks, line)
	}
	return &answer[tasksBody]{list}, nil
}

type knownBody struct {
	Tasks []trialserver.Summary `json:"tasks" nullable:"false"`
}

func (a *api) listKnown(ctx context.Context, _ *struct{}) (*answer[knownBody], error) {
	known, err := a.server.Known(ctx)
	return answerOf(knownBody{known}, err)
}

func lineOf(ctx context.Context, t *trialserver.Task) (taskLine, error) {
	of := t.Session().Task()
	line := taskLine{ID: t.ID(), Name: of.Name, Goal: string(of.Goal), Objectives: objectivesOf(of), Trials: map[string]int{
		string(strategy.Waiting): 0, string(strategy.Running): 0, string(strategy.Done): 0, string(strategy.Failed): 0, string(strategy.StoppedEarly): 0,
	}}
	trials, err := t.Session().Trials(ctx)
	for _, trial := range trials {
		line.Trials[string(trial.State)]++
	}
	return line, err
}

func bodyOf(ctx context.Context, t *trialserver.Task) (taskBody, error) {
	line, err := lineOf(ctx, t)
	return taskBody{line.ID, line.Name, line.Goal, line.Objectives, line.Trials, t.Session().Task().File()}, err
}

type createInput struct {
	Unhurried
	Body orderBody
}

type createOutput struct {
	Status int
	Body   taskBody
}

func (a *api) createTask(ctx context.Context, in *createInput) (*createOutput, error) {
	order, err := in.Body.order()
	if err != nil {
		return nil, err
	}
	var t *trialserver.Task
	var created bool
	if in.Body.Join != "" {
		t, created, err = a.server.CreateFrom(ctx, order, in.Body.Join)
	} else {
		t, created, err = a.server.Create(ctx, order, in.Body.Invitation)
	}
	if field := (*trialserver.FieldError)(nil); errors.As(err, &field) && field.Field == "text" {
		return nil, invalid("body."+in.Body.field(), field.Err)
	}
	if err != nil {
		return nil, problem(err)
	}
	out := &createOutput{Status: http.StatusOK}
	if created {
		out.Status = http.StatusCreated
	}
	if out.Body, err = bodyOf(ctx, t); err != nil {
		return nil, problem(err)
	}
	return out, nil
}

// joinErrors are the statuses of strings that cannot be used: no node knows it, it has ended, a node
// answers wrongly, no node answers.
var joinErrors = []int{http.StatusNotFound, http.StatusGone, http.StatusBadGateway, http.StatusGatewayTimeout}

type previewInput struct {
	Unhurried
	Body struct {
		Join string `json:"join" minLength:"1" doc:"The string of fbo-node task invite."`
	}
}

type previewBody struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Goal       string   `json:"goal" enum:"minimize,maximize" doc:"Of the objective; of several, the goal of the first."`
	Objectives []string `json:"objectives,omitempty" nullable:"false" doc:"The names of several objectives."`
	Open       bool     `json:"open" doc:"Whether every node that knows the task can join it."`
	Served     bool     `json:"served" doc:"Whether this node serves the task already."`
	Reveals    string   `json:"reveals" doc:"What peers receive of a node, and what they can compute from it. Empty if nothing is sent."`
	File       object   `json:"task" doc:"The task, defaults filled in."`
}

func (a *api) previewJoin(ctx context.Context, in *previewInput) (*answer[previewBody], error) {
	p, err := a.server.Preview(ctx, in.Body.Join)
	if err != nil {
		return nil, problem(err)
	}
	t := p.Task
	return &answer[previewBody]{previewBody{
		t.ID().String(), t.Name, string(t.Goal), objectivesOf(t), p.Open, p.Served, p.Reveals, t.File(),
	}}, nil
}

func (a *api) getTask(ctx context.Context, in *InTask) (*answer[taskBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	return answerOf(bodyOf(ctx, t))
}

func (a *api) leaveTask(_ context.Context, in *InTask) (*struct{}, error) {
	return nil, problem(a.server.Leave(in.Task))
}
