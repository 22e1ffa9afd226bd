package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// waitSeconds is the time for which one ask waits for designs; it is shorter than the limits that clients
// set for a tool.
const waitSeconds = 15

// object is the body of a request.
type object map[string]any

// addWorking adds the tools that change trials and queued designs.
func (s *server) addWorking() {
	add(s, "ask", "Get trials to evaluate: those that you hold already, then new ones. Fewer trials with waits_for means: ask again.", repeats, s.ask)
	add(s, "tell", "Report the measured values of a trial. A repeated report changes nothing.", repeats, s.tell)
	add(s, "fail", "Report that a trial that you hold has no outcome, and why: the design could not be evaluated.", repeats, s.fail)
	add(s, "report_steps", "Report values by step of a trial that you hold, such as the loss after each epoch. If the answer has a stop, end the evaluation by stop_trial.", repeats, s.reportSteps)
	add(s, "stop_trial", "End a trial that you hold early, after at least one value by step.", repeats, s.stopTrial)
	add(s, "return_trial", "Return a trial that you hold without a result: another client evaluates it.", repeats, s.returnTrial)
	add(s, "enqueue", "Add a design of your own, which is evaluated before the strategy chooses any: a later ask returns it.", repeats, s.enqueue)
	add(s, "withdraw", "Remove a queued design.", removes, s.withdraw)
}

// addTasks adds the tools that change the tasks of the node.
func (s *server) addTasks() {
	add(s, "create_task", "Join a task by the text of its file. The node then publishes shares of it to peers: check_task shows what they contain. A task that is served already does not change.", repeats, s.createTask)
	add(s, "leave_task", "Leave a task. Its trials stay on the disk, and create_task continues it.", removes, s.leaveTask)
}

// Once makes a request repeatable.
type Once struct {
	Key string `json:"key,omitempty" jsonschema:"1 to 128 visible ASCII characters, another one for each request: the same request with the same key is carried out once"`
}

// InTrial names a trial.
type InTrial struct {
	InTask
	Trial uint64 `json:"trial" jsonschema:"ID of the trial, from 1"`
}

func (in InTrial) path(action string) string { return fmt.Sprintf("/trials/%d/%s", in.Trial, action) }

// AskInput is the input of ask.
type AskInput struct {
	InTask
	Once
	Count int `json:"count,omitempty" jsonschema:"number of trials that you then hold, 1 to 100; default 1"`
}

// Asked is the output of ask.
type Asked struct {
	Trials   []Trial `json:"trials"`
	WaitsFor string  `json:"waits_for,omitempty" jsonschema:"why there are fewer trials than requested: ask again"`
}

func (s *server) ask(ctx context.Context, in AskInput) (Asked, error) {
	if in.Count == 0 {
		in.Count = 1
	}
	if in.Count < 1 || in.Count > maxHeld {
		return Asked{}, fmt.Errorf("count %d: expected 1 to %d", in.Count, maxHeld)
	}
	var answer struct {
		Trials   []shown `json:"trials"`
		WaitsFor string  `json:"waits_for"`
	}
	err := s.postOf(ctx, in.InTask, "/ask", in.Key, object{
		"client": s.options.Client, "count": in.Count, "lease_seconds": s.options.Lease.Seconds(), "wait_seconds": waitSeconds,
	}, &answer)
	return Asked{trialsOf(answer.Trials, s.options.Client), answer.WaitsFor}, err
}

// TellInput is the input of tell.
type TellInput struct {
	InTrial
	Once
	Outcome
	Cost *float64 `json:"cost,omitempty" jsonschema:"cost of the evaluation, in a unit of yours; peers never receive it"`
}

// tell refuses reports about trials that another client evaluates, which the HTTP interface accepts.
func (s *server) tell(ctx context.Context, in TellInput) (Trial, error) {
	var now shown
	if err := s.getOf(ctx, in.InTask, fmt.Sprintf("/trials/%d", in.Trial), &now); err != nil {
		return Trial{}, err
	}
	if now.State == string(strategy.Running) && now.Client != s.options.Client {
		return Trial{}, fmt.Errorf("trial %d: another client holds it; expected a trial that ask has returned", in.Trial)
	}
	body := object{"value": in.Value, "metrics": in.Metrics}
	if len(in.Constraints) > 0 {
		body["constraints"] = in.Constraints
	}
	return s.end(ctx, in.InTrial, in.Key, "tell", body, in.Cost)
}

// end ends a trial by a request to one of its paths.
func (s *server) end(ctx context.Context, in InTrial, key, action string, body object, cost *float64) (Trial, error) {
	if cost != nil {
		body["cost"] = *cost
	}
	var stored shown
	err := s.postOf(ctx, in.InTask, in.path(action), key, body, &stored)
	return stored.of(s.options.Client), err
}

// FailInput is the input of fail.
type FailInput struct {
	InTrial
	Once
	Reason string   `json:"reason" jsonschema:"why there is no outcome, 1 to 1000 characters"`
	Cost   *float64 `json:"cost,omitempty" jsonschema:"cost of the evaluation, in a unit of yours"`
}

func (s *server) fail(ctx context.Context, in FailInput) (Trial, error) {
	return s.end(ctx, in.InTrial, in.Key, "fail", object{"client": s.options.Client, "reason": line(in.Reason)}, in.Cost)
}

// line makes a text of the agent safe to store and display.
func line(text string) string { return sanitize.Text(text, len(text)) }

// StepsInput is the input of report_steps.
type StepsInput struct {
	InTrial
	Steps []Step `json:"steps" jsonschema:"in ascending order"`
}

// Reported is the output of report_steps.
type Reported struct {
	Stop *Stop `json:"stop" jsonschema:"why the evaluation should be stopped; null to continue"`
}

func (s *server) reportSteps(ctx context.Context, in StepsInput) (r Reported, err error) {
	err = s.postOf(ctx, in.InTask, in.path("steps"), "", object{"client": s.options.Client, "steps": in.Steps}, &r)
	return r, err
}

// StopInput is the input of stop_trial.
type StopInput struct {
	InTrial
	Once
	Reason string   `json:"reason,omitempty" jsonschema:"why, if you have decided it"`
	Cost   *float64 `json:"cost,omitempty" jsonschema:"cost of the evaluation, in a unit of yours"`
}

func (s *server) stopTrial(ctx context.Context, in StopInput) (Trial, error) {
	return s.end(ctx, in.InTrial, in.Key, "stopped", object{"client": s.options.Client, "reason": line(in.Reason)}, in.Cost)
}

// ReturnInput is the input of return_trial.
type ReturnInput struct {
	InTrial
	Once
}

func (s *server) returnTrial(ctx context.Context, in ReturnInput) (Trial, error) {
	return s.end(ctx, in.InTrial, in.Key, "requeue", object{"client": s.options.Client}, nil)
}

// EnqueueInput is the input of enqueue.
type EnqueueInput struct {
	InTask
	Once
	Parameters map[string]json.RawMessage `json:"parameters" jsonschema:"the design: a value for each active parameter of the task"`
}

func (s *server) enqueue(ctx context.Context, in EnqueueInput) (q Queued, err error) {
	err = s.postOf(ctx, in.InTask, "/enqueue", in.Key, object{"parameters": in.Parameters}, &q)
	return q, err
}

// WithdrawInput is the input of withdraw.
type WithdrawInput struct {
	InTask
	Once
	ID uint64 `json:"id" jsonschema:"ID of the queued design"`
}

// Done is the output of a tool without one.
type Done struct {
	Done bool `json:"done"`
}

func (s *server) withdraw(ctx context.Context, in WithdrawInput) (Done, error) {
	at, err := s.path(ctx, in.InTask)
	if err == nil {
		err = s.change(ctx, Request{Method: http.MethodDelete, Path: fmt.Sprintf("%s/queue/%d", at, in.ID), Key: in.Key}, nil)
	}
	return Done{err == nil}, err
}

func (s *server) createTask(ctx context.Context, in TaskText) (Checked, error) {
	checked, err := s.checkTask(ctx, in)
	if err == nil {
		err = s.node.Do(ctx, Request{Method: http.MethodPost, Path: "/v1/tasks", Body: object{"text": in.Text}}, nil)
	}
	return checked, err
}

// LeaveInput is the input of leave_task.
type LeaveInput struct {
	Task string `json:"task" jsonschema:"the task: its ID, the first characters of it (8 or more) or its name"`
}

func (s *server) leaveTask(ctx context.Context, in LeaveInput) (Done, error) {
	at, err := s.path(ctx, InTask(in))
	if err == nil {
		err = s.node.Do(ctx, Request{Method: http.MethodDelete, Path: at}, nil)
	}
	return Done{err == nil}, err
}
