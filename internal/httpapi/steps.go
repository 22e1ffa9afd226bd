package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
)

func (a *api) addSteps() {
	const one = "/v1/tasks/{task}/trials/{trial}"
	lost, gone := http.StatusConflict, http.StatusNotFound
	huma.Register(a.API, op(http.MethodPost, one+"/steps", "report", "Add values by step, such as the loss after each epoch, to a trial that the client holds. The answer has the decision to stop the evaluation. Repeating a report changes nothing. After a value that is not accepted, those before it are stored.", gone, lost), a.report)
	huma.Register(a.API, op(http.MethodPost, one+"/stopped", "stopped", "Report that the evaluation of a trial was stopped early, after at least one value by step. The trial then has no outcome; where `patience` stopped it, the last value is the outcome. The same client may repeat the report.", gone, lost), a.endStopped)
}

// step is curves.Step with a schema.
type step struct {
	Step  uint64  `json:"step" minimum:"1" maximum:"1000000000" doc:"A whole number that increases, such as an epoch."`
	Value float64 `json:"value" doc:"Of the objective, in the task's own units."`
	Spent
}

// Spent is the cost in a report.
type Spent struct {
	Cost *float64 `json:"cost,omitempty" nullable:"true" minimum:"0" doc:"What the trial has cost so far, in a unit of yours, such as seconds. The largest reported cost counts."`
}

func curveOf(steps []step) (curve curves.Curve) {
	for _, s := range steps {
		curve = append(curve, curves.Step{Step: s.Step, Value: s.Value, Cost: s.Cost})
	}
	return curve
}

func stepsOf(curve curves.Curve) (steps []step) {
	for _, s := range curve {
		steps = append(steps, step{Step: s.Step, Value: s.Value})
	}
	return steps
}

// stop is curves.Stop with a schema.
type stop struct {
	Rule   string `json:"rule" doc:"forecast, asha, median, patience, or program if the program itself has decided."`
	Step   uint64 `json:"step" doc:"The last step at the decision."`
	Reason string `json:"reason"`

	Forecast  *float64 `json:"forecast,omitempty" doc:"The final value that was predicted at the decision, in the objective's units."`
	Deviation float64  `json:"deviation,omitempty" doc:"The standard deviation of that prediction."`
}

type reportInput struct {
	Unhurried
	InTrial
	Body struct {
		Client string `json:"client" minLength:"1" maxLength:"64" doc:"Who holds the trial."`
		Steps  []step `json:"steps" nullable:"false" minItems:"1" maxItems:"1000" doc:"In ascending order. A trial has at most 1,000."`
	}
}

type reportedBody struct {
	Stop *stop `json:"stop" doc:"Why the evaluation should be stopped; null to continue."`
}

// TransformSchema states that the decision may be null.
func (reportedBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "stop")
}

func (a *api) report(ctx context.Context, in *reportInput) (*answer[reportedBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	decision, err := t.Session().Clients().Report(ctx, in.Trial, in.Body.Client, curveOf(in.Body.Steps))
	return answerOf(reportedBody{(*stop)(decision)}, err)
}

type stoppedInput struct {
	Unhurried
	InTrial
	Key
	Body struct {
		Client string `json:"client" minLength:"1" maxLength:"64" doc:"Who holds the trial."`
		Reason string `json:"reason,omitempty" nullable:"true" maxLength:"1000" doc:"Why, if the program itself has decided."`
		Spent
		Kept
	}
}

func (a *api) endStopped(ctx context.Context, in *stoppedInput) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	once, err := in.once("stopped", in.Trial, in.Body)
	if err != nil {
		return nil, err
	}
	if err := t.Session().Clients().EndStopped(ctx, once, in.Trial, in.Body.Client, agent.Ending{Reason: in.Body.Reason, Cost: in.Body.Cost, Annotations: in.Body.annotations()}); err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}
