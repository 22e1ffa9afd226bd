package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// object is JSON whose keys depend on the task. It is passed on unchanged: numbers keep their
// digits.
type object json.RawMessage

// Schema returns the OpenAPI schema.
func (object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON returns the object.
func (o object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	return o, nil
}

// UnmarshalJSON stores a copy; null is none.
func (o *object) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*o = nil
		return nil
	}
	*o = append((*o)[:0], data...)
	return nil
}

func objectOf(v any) (object, error) {
	data, err := json.Marshal(v)
	return object(data), err
}

// reading is the value of a constraint.
type reading struct{ task.Reading }

// Schema returns the OpenAPI schema.
func (reading) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeBoolean}}}
}

// Outcome is strategy.Outcome with a schema.
type Outcome struct {
	Value       float64            `json:"value" doc:"Of the objective, of several the first, in the task's own units."`
	Constraints map[string]reading `json:"constraints,omitempty" nullable:"true" doc:"Of the task's constraints, by name: a number or, where the task says so, true or false."`
	Metrics     map[string]float64 `json:"metrics,omitempty" nullable:"true" doc:"Further numbers, by name. A task with several objectives requires those after the first; the others are for people."`
}

func (o Outcome) strategy() strategy.Outcome {
	out := strategy.Outcome{Value: o.Value, Metrics: o.Metrics}
	for name, r := range o.Constraints {
		if out.Constraints == nil {
			out.Constraints = map[string]task.Reading{}
		}
		out.Constraints[name] = r.Reading
	}
	return out
}

// check adds the field to the error of an outcome.
func (o Outcome) check(t *task.Task, at string) error {
	out := o.strategy()
	if len(t.Constraints) == 0 && len(out.Constraints) > 0 {
		return invalid(at+".constraints", errors.New("the task has none; expected none, and in metrics numbers for people"))
	}
	if err := t.CheckReadings(out.Constraints); err != nil {
		return invalid(at+".constraints", err)
	}
	if err := t.CheckObjectives(out.Metrics); err != nil {
		return invalid(at+".metrics", err)
	}
	if err := agent.CheckMetrics(out.Metrics); err != nil {
		return invalid(at+".metrics", err)
	}
	return nil
}

func outcomeOf(o *strategy.Outcome) *Outcome {
	if o == nil {
		return nil
	}
	out := &Outcome{Value: o.Value, Metrics: o.Metrics}
	for name, r := range o.Constraints {
		if out.Constraints == nil {
			out.Constraints = map[string]reading{}
		}
		out.Constraints[name] = reading{r}
	}
	return out
}

// trial is strategy.Trial in the form of history --json, with the end of its lease.
type trial struct {
	ID         uint64    `json:"id" doc:"1, 2, … of this node and task."`
	Parameters object    `json:"parameters" doc:"The design to evaluate: a value for each active parameter of the task."`
	Why        object    `json:"why" doc:"How the design was chosen."`
	State      string    `json:"state" enum:"waiting,running,done,failed,stopped"`
	Attempts   int       `json:"attempts" doc:"How often it was given to a client and not returned."`
	Client     string    `json:"client,omitempty" doc:"Who holds it or has evaluated it; none: this node itself."`
	LeaseEnds  time.Time `json:"lease_ends,omitzero" doc:"When another client gets it, without a sign of life of this one."`
	Started    time.Time `json:"started,omitzero"`
	Finished   time.Time `json:"finished,omitzero"`
	Outcome    *Outcome  `json:"outcome,omitempty"`
	Reason     string    `json:"reason,omitempty" doc:"Why it failed."`
	Violated   []string  `json:"violated,omitempty" nullable:"false" doc:"The constraints that the outcome violates; without one it is feasible."`
	Steps      []step    `json:"steps,omitempty" nullable:"false" doc:"Values by step that the evaluation has reported, in order."`
	Cost       *float64  `json:"cost,omitempty" doc:"The largest reported cost, in a unit of the user's. Peers never receive it."`
	Stop       *stop     `json:"stop,omitempty" doc:"Why the evaluation should end early, or has. The trial is running until its client ends it."`

	Attributes map[string]string `json:"attributes,omitempty" doc:"Texts of the user, by name."`
	Tags       []string          `json:"tags,omitempty" nullable:"false" doc:"Tags of the user."`
	Files      []file            `json:"files,omitempty" nullable:"false" doc:"References to files of the evaluation."`
	Notes      []note            `json:"notes,omitempty" nullable:"false" doc:"Texts of the user about it, the oldest first."`
}

func trialOf(t strategy.Trial, leaseEnds time.Time) (shown trial, err error) {
	shown = trial{
		ID: t.ID, State: string(t.State), Attempts: t.Attempts, Client: t.Client, LeaseEnds: leaseEnds,
		Started: t.Started, Finished: t.Finished, Outcome: outcomeOf(t.Outcome), Reason: t.Reason,
		Steps: stepsOf(t.Steps), Cost: t.Cost, Stop: (*stop)(t.Stop), Attributes: t.Attributes, Tags: t.Tags,
	}
	for _, f := range t.Files {
		shown.Files = append(shown.Files, file(f))
	}
	for _, n := range t.Notes {
		shown.Notes = append(shown.Notes, note(n))
	}
	for _, output := range t.Violated {
		shown.Violated = append(shown.Violated, string(output))
	}
	if shown.Parameters, err = objectOf(t.Design); err != nil {
		return trial{}, err
	}
	shown.Why, err = objectOf(t.Why)
	return shown, err
}

func trialsOf(all []strategy.Trial, leases map[uint64]time.Time) ([]trial, error) {
	shown := make([]trial, 0, len(all))
	for _, t := range all {
		one, err := trialOf(t, leases[t.ID])
		if err != nil {
			return nil, err
		}
		shown = append(shown, one)
	}
	return shown, nil
}

// Key is the header that makes a request repeatable.
type Key struct {
	Value string `header:"Idempotency-Key" pattern:"^[!-~]{1,128}$" patternDescription:"1 to 128 visible ASCII characters" doc:"Another one for each request: the same key with the same request gets the same answer and changes nothing. The newest 4096 of a task are remembered."`
}

// once binds the key to the request.
func (k Key) once(operation string, id uint64, body any) (agent.Once, error) {
	if k.Value == "" {
		return agent.Once{}, nil
	}
	asked, err := json.Marshal(struct {
		Operation string
		ID        uint64
		Body      any
	}{operation, id, body})
	if err != nil {
		return agent.Once{}, err
	}
	sum := sha256.Sum256(asked)
	return agent.Once{Key: k.Value, Digest: hex.EncodeToString(sum[:16])}, nil
}

// Unhurried removes the deadline for the body once it has been read. Otherwise the server would
// interpret the deadline, while the request is carried out, as a disconnected client.
type Unhurried struct{}

// Resolve runs between the body and the handler.
func (*Unhurried) Resolve(ctx huma.Context) []error {
	_ = ctx.SetReadDeadline(time.Time{}) // a deadline that cannot be set was never set
	return nil
}
