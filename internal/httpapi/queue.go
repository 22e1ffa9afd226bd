package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

func (a *api) addQueue() {
	const queue = "/v1/tasks/{task}/queue"
	huma.Register(a.API, op(http.MethodPost, "/v1/tasks/{task}/enqueue", "enqueue", "Add a design to those that are evaluated before the strategy chooses any. A design that is queued already is not added again.", http.StatusNotFound, http.StatusConflict), a.enqueue)
	huma.Register(a.API, op(http.MethodGet, queue, "list-queue", "List the queued designs, in the order of their evaluation", http.StatusNotFound), a.listQueue)
	withdraw := op(http.MethodDelete, queue+"/{queued}", "withdraw", "Withdraw a queued design", http.StatusNotFound)
	withdraw.DefaultStatus = http.StatusNoContent
	huma.Register(a.API, withdraw, a.withdraw)
}

type enqueueBody struct {
	Parameters object `json:"parameters" doc:"The design: a value for each active parameter of the task."`
}

type enqueueInput struct {
	Unhurried
	InTask
	Key
	Body enqueueBody
}

type enqueuedBody struct {
	ID         uint64 `json:"id,omitempty" doc:"Of the queued design; absent for one that was given at the node's start, which cannot be withdrawn."`
	Parameters object `json:"parameters" doc:"The design."`
}

type queuedDesign struct {
	ID         uint64    `json:"id,omitempty" doc:"Absent for a design that was given at the node's start, which cannot be withdrawn."`
	Parameters object    `json:"parameters" doc:"The design."`
	Enqueued   time.Time `json:"enqueued,omitzero" doc:"When it was enqueued; absent for one that was given at the node's start."`
}

type queueBody struct {
	Queued []queuedDesign `json:"queued" nullable:"false"`
}

func (a *api) enqueue(ctx context.Context, in *enqueueInput) (*answer[enqueuedBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	design, err := designOf(t.Session().Task().Space, in.Body.Parameters, "body.parameters")
	if err != nil {
		return nil, err
	}
	once, err := in.once("enqueue", 0, in.Body)
	if err != nil {
		return nil, err
	}
	queued, err := t.Session().Clients().Enqueue(ctx, once, design)
	if err != nil {
		return nil, problem(err)
	}
	shown, err := objectOf(queued.Design)
	return answerOf(enqueuedBody{queued.ID, shown}, err)
}

// designOf reads a design. Its error lists every parameter that is wrong.
func designOf(space *task.Space, given object, at string) (task.Design, error) {
	design, err := space.UnmarshalDesign(given)
	if err == nil {
		return design, nil
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(given, &values) != nil {
		return design, invalid(at, err)
	}
	var details []error
	add := func(name string, err error) {
		details = append(details, &huma.ErrorDetail{Location: at + "." + sanitize.Text(name, 100), Message: plainText(err)})
	}
	blocks := space.Blocks()
	for i, p := range space.Parameters() {
		value, given := values[p.Name]
		delete(values, p.Name)
		if !given && blocks[i].Count == 1 { // may be left out
			continue
		}
		if _, err := space.ParseJSON(p.Name, value); err != nil {
			add(p.Name, err)
		}
	}
	for i, name := range slices.Sorted(maps.Keys(values)) {
		if i == maxUnknown {
			break
		}
		_, err := space.ParseJSON(name, values[name])
		add(name, err)
	}
	if inactive := (*task.ActivityError)(nil); details == nil && errors.As(err, &inactive) {
		add(inactive.Parameter, err)
	}
	if details == nil { // the values are accepted, and their combination is not
		return design, invalid(at, err)
	}
	first := details[0].(*huma.ErrorDetail)
	return design, huma.NewError(http.StatusUnprocessableEntity, first.Location+": "+firstLine(first.Message), details...)
}

// maxUnknown is the maximum number of unknown parameters in an error.
const maxUnknown = 10

func (a *api) listQueue(ctx context.Context, in *InTask) (*answer[queueBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	all, err := t.Session().Clients().Queue(ctx)
	if err != nil {
		return nil, problem(err)
	}
	body, err := queueOf(all)
	return answerOf(body, err)
}

func queueOf(all []agent.Queued) (queueBody, error) {
	body := queueBody{Queued: []queuedDesign{}}
	for _, q := range all {
		shown, err := objectOf(q.Design)
		if err != nil {
			return queueBody{}, err
		}
		body.Queued = append(body.Queued, queuedDesign{q.ID, shown, q.Time})
	}
	return body, nil
}

type withdrawInput struct {
	InTask
	Key
	Queued uint64 `path:"queued" minimum:"1" maximum:"9007199254740991" doc:"The ID of the queued design."`
}

func (a *api) withdraw(ctx context.Context, in *withdrawInput) (*struct{}, error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	once, err := in.once("withdraw", in.Queued, nil)
	if err != nil {
		return nil, err
	}
	return nil, problem(t.Session().Clients().Withdraw(ctx, once, in.Queued))
}
