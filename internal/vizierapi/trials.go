package vizierapi

import (
	"context"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/strategy"
)

// suggestTrials lets a client hold trials. The operation that it returns is done if the client has them.
func (s *service) suggestTrials(ctx context.Context, r *vizierpb.SuggestTrialsRequest) (*vizierpb.Operation, error) {
	request := suggestion{r.GetParent(), r.GetClientId(), int(r.GetSuggestionCount())}
	if err := request.check(); err != nil {
		return nil, err
	}
	return s.suggest(ctx, request)
}

// getOperation repeats the request of an operation, which changes nothing that was done before.
func (s *service) getOperation(ctx context.Context, r *vizierpb.GetOperationRequest) (*vizierpb.Operation, error) {
	request, err := parseSuggestion(r.GetName())
	if err != nil {
		return nil, err
	}
	return s.suggest(ctx, request)
}

func (s *service) suggest(ctx context.Context, request suggestion) (*vizierpb.Operation, error) {
	one, t, err := s.mutable(request.study)
	if err != nil {
		return nil, err
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, err
	}
	count := request.count // and those that the client should end, which are no suggestions
	for _, trial := range trials {
		if trial.Client == request.client && stateOf(trial) == vizierpb.Trial_STOPPING {
			count++
		}
	}
	waiting, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	answer, err := t.Ask(waiting, agent.Claim{Client: request.client, Lease: lease}, count, agent.Once{})
	if err != nil {
		return nil, err
	}
	response := &vizierpb.SuggestTrialsResponse{}
	for _, trial := range answer.Trials {
		if stateOf(trial) == vizierpb.Trial_ACTIVE && len(response.Trials) < request.count {
			response.Trials = append(response.Trials, one.show(trial))
		}
	}
	operation := &vizierpb.Operation{Name: request.name()}
	if len(response.Trials) < request.count {
		return operation, nil
	}
	data, err := proto.Marshal(response)
	operation.Done = true
	operation.Result = &vizierpb.Operation_Response{Response: &anypb.Any{TypeUrl: "type.googleapis.com/vizier.SuggestTrialsResponse", Value: data}}
	return operation, err
}

// find returns the trial with an ID.
func find(trials []strategy.Trial, id uint64) (strategy.Trial, error) {
	if id == 0 || id > uint64(len(trials)) {
		return strategy.Trial{}, unknownTrial(id, len(trials))
	}
	return trials[id-1], nil
}

// inTrial is a trial in a request.
type inTrial struct {
	of *study
	t  *trialserver.Task
	strategy.Trial
}

// trial returns the trial of a name; changes reports whether the request changes it.
func (s *service) trial(ctx context.Context, name string, changes bool) (in inTrial, err error) {
	study, id, err := parseTrial(name)
	if err != nil {
		return in, err
	}
	if in.of, in.t, err = s.opened(study); err != nil {
		return in, err
	}
	if changes {
		if in.of, in.t, err = s.mutable(study); err != nil {
			return in, err
		}
	}
	return in, in.read(ctx, id)
}

func (in *inTrial) read(ctx context.Context, id uint64) error {
	trials, err := in.t.Session().Trials(ctx)
	if err == nil {
		in.Trial, err = find(trials, id)
	}
	return err
}

// shown returns the trial as it is now.
func (in *inTrial) shown(ctx context.Context) (*vizierpb.Trial, error) {
	if err := in.read(ctx, in.ID); err != nil {
		return nil, err
	}
	return in.of.show(in.Trial), nil
}

// running returns an error unless a client evaluates the trial.
func (in *inTrial) running() error {
	if in.State != strategy.Running {
		return refused("trial %d is %v; expected ACTIVE or STOPPING", in.ID, stateOf(in.Trial))
	}
	return nil
}

func annotate(ctx context.Context, t *trialserver.Task, id uint64, attributes map[string]string) error {
	return t.Session().Clients().Annotate(ctx, agent.Once{}, id, strategy.AnnotationChange{Attributes: attributes})
}

func (s *service) getTrial(ctx context.Context, r *vizierpb.GetTrialRequest) (*vizierpb.Trial, error) {
	in, err := s.trial(ctx, r.GetName(), false)
	if err != nil {
		return nil, err
	}
	return in.of.show(in.Trial), nil
}

func (s *service) listTrials(ctx context.Context, r *vizierpb.ListTrialsRequest) (*vizierpb.ListTrialsResponse, error) {
	one, t, err := s.opened(r.GetParent())
	if err != nil {
		return nil, err
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, err
	}
	answer := &vizierpb.ListTrialsResponse{}
	for _, trial := range trials {
		answer.Trials = append(answer.Trials, one.show(trial))
	}
	return answer, nil
}

// listOptimalTrials returns the Pareto front, or all trials with the best value of one objective.
func (s *service) listOptimalTrials(ctx context.Context, r *vizierpb.ListOptimalTrialsRequest) (*vizierpb.ListOptimalTrialsResponse, error) {
	one, t, err := s.opened(r.GetParent())
	if err != nil {
		return nil, err
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, err
	}
	answer := &vizierpb.ListOptimalTrialsResponse{}
	if one.task.Several() {
		for _, trial := range strategy.SortedFront(one.task, trials) {
			answer.OptimalTrials = append(answer.OptimalTrials, one.show(*trial))
		}
		return answer, nil
	}
	best := strategy.Best(one.task, trials)
	for _, trial := range trials {
		if best != nil && trial.State == strategy.Done && trial.Outcome.Value == best.Outcome.Value && one.task.Feasible(trial.Outcome) {
			answer.OptimalTrials = append(answer.OptimalTrials, one.show(trial))
		}
	}
	return answer, nil
}

// addTrialMeasurement reports a value by step.
func (s *service) addTrialMeasurement(ctx context.Context, r *vizierpb.AddTrialMeasurementRequest) (*vizierpb.Trial, error) {
	in, err := s.trial(ctx, r.GetTrialName(), true)
	if err != nil {
		return nil, err
	}
	step, err := in.of.stepOf(r.GetMeasurement())
	if err != nil {
		return nil, err
	}
	if err := in.running(); err != nil {
		return nil, err
	}
	if _, err := in.t.Session().Clients().Report(ctx, in.ID, in.Client, []curves.Step{step}); err != nil {
		return nil, err
	}
	return in.shown(ctx)
}

// completeTrial ends a trial. A repeated report is no error.
func (s *service) completeTrial(ctx context.Context, r *vizierpb.CompleteTrialRequest) (*vizierpb.Trial, error) {
	in, err := s.trial(ctx, r.GetName(), true)
	if err != nil {
		return nil, err
	}
	final := r.GetFinalMeasurement()
	clients := in.t.Session().Clients()
	if in.State == strategy.Waiting {
		return nil, in.running()
	}
	switch {
	case r.GetTrialInfeasible():
		if len(final.GetMetrics()) > 0 {
			return nil, unsupported("trial %d: an infeasible trial with metrics: fbo keeps none of a failed evaluation; expected no metrics", in.ID)
		}
		reason := r.GetInfeasibleReason()
		if reason == "" {
			reason = "infeasible"
		}
		err = clients.Fail(ctx, agent.Once{}, in.ID, in.Client, agent.Ending{Reason: reason, Cost: costOf(final)})
	case len(final.GetMetrics()) > 0:
		outcome, given := in.of.outcomeOf(final)
		if given != nil {
			return nil, given
		}
		err = clients.Tell(ctx, agent.Once{}, in.ID, outcome)
	case len(in.Steps) == 0:
		err = invalid("trial %d: neither the request nor an earlier measurement has metrics; expected a final_measurement", in.ID)
	case in.State == strategy.StoppedEarly || in.State == strategy.Running && stateOf(in.Trial) == vizierpb.Trial_STOPPING:
		err = clients.EndStopped(ctx, agent.Once{}, in.ID, in.Client, agent.Ending{Reason: "StopTrial", Cost: costOf(final)})
	case len(in.of.metrics) > 1:
		err = invalid("trial %d: its measurements have one metric; expected a final_measurement with all", in.ID)
	default:
		err = clients.Tell(ctx, agent.Once{}, in.ID, strategy.Outcome{Value: in.Steps.Last().Value, Cost: costOf(final)})
	}
	if err != nil {
		return nil, err
	}
	return in.shown(ctx)
}

// stopTrial marks a trial, so that its client ends it.
func (s *service) stopTrial(ctx context.Context, r *vizierpb.StopTrialRequest) (*vizierpb.Trial, error) {
	in, err := s.trial(ctx, r.GetName(), true)
	if err != nil {
		return nil, err
	}
	switch stateOf(in.Trial) {
	case vizierpb.Trial_ACTIVE:
		if err := annotate(ctx, in.t, in.ID, map[string]string{stoppingAttribute: "true"}); err != nil {
			return nil, err
		}
	case vizierpb.Trial_STOPPING, vizierpb.Trial_SUCCEEDED:
	default:
		return nil, in.running()
	}
	return in.shown(ctx)
}

func (s *service) checkTrialEarlyStoppingState(ctx context.Context, r *vizierpb.CheckTrialEarlyStoppingStateRequest) (*vizierpb.CheckTrialEarlyStoppingStateResponse, error) {
	in, err := s.trial(ctx, r.GetTrialName(), true)
	if err == nil {
		err = in.running()
	}
	return &vizierpb.CheckTrialEarlyStoppingStateResponse{ShouldStop: stateOf(in.Trial) == vizierpb.Trial_STOPPING}, err
}

func (s *service) deleteTrial(ctx context.Context, r *vizierpb.DeleteTrialRequest) (*vizierpb.Empty, error) {
	in, err := s.trial(ctx, r.GetName(), true)
	if err != nil {
		return nil, err
	}
	return nil, unsupported("trial %d: trials cannot be deleted, since models and peers have used them; an ACTIVE one can be completed as infeasible", in.ID)
}

// createTrial adds a trial of the user: a completed one, or one for the next client.
func (s *service) createTrial(ctx context.Context, r *vizierpb.CreateTrialRequest) (*vizierpb.Trial, error) {
	one, t, err := s.mutable(r.GetParent())
	if err != nil {
		return nil, err
	}
	given := r.GetTrial()
	design, err := one.designOf(given.GetParameters())
	if err != nil {
		return nil, err
	}
	attributes := map[string]string{}
	for _, kv := range given.GetMetadata() {
		name, text, err := attributeOf(kv)
		if err != nil {
			return nil, err
		}
		attributes[name] = text
	}
	annotations := strategy.Annotations{Attributes: attributes}
	in := inTrial{of: one, t: t}
	if given.GetState() != vizierpb.Trial_SUCCEEDED && given.GetState() != vizierpb.Trial_INFEASIBLE {
		if len(given.GetMeasurements()) > 0 || given.FinalMeasurement != nil {
			return nil, unsupported("trial: measurements of a trial that is not completed; expected none")
		}
		if err := strategy.CheckAnnotations(annotations); err != nil {
			return nil, err
		}
		if in.ID, err = t.Session().Clients().Prepare(ctx, agent.Once{}, design); err == nil && len(attributes) > 0 {
			err = annotate(ctx, t, in.ID, attributes)
		}
		if err != nil {
			return nil, err
		}
		return in.shown(ctx)
	}
	past := agent.Past{Design: design}
	if given.GetState() == vizierpb.Trial_SUCCEEDED {
		if past.Outcome, err = one.outcomeOf(given.GetFinalMeasurement()); err != nil {
			return nil, err
		}
	} else if past.Failed = given.GetInfeasibleReason(); past.Failed == "" {
		past.Failed = "infeasible"
	}
	for _, m := range given.GetMeasurements() {
		step, err := one.stepOf(m)
		if err != nil {
			return nil, err
		}
		past.Steps = append(past.Steps, step)
	}
	for name, text := range past.Outcome.Annotations.Attributes {
		attributes[name] = text
	}
	past.Outcome.Annotations = annotations
	if _, err := t.Session().Clients().Import(ctx, agent.Once{}, []agent.Past{past}); err != nil {
		return nil, err
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, err
	}
	for _, trial := range slices.Backward(trials) {
		if trial.Why.Source == strategy.Imported && trial.Design.Equal(design) && (trial.Outcome == nil) == (past.Failed != "") &&
			(trial.Outcome == nil || trial.Outcome.Value == past.Outcome.Value) {
			return one.show(trial), nil
		}
	}
	return nil, refused("trial: it was not added; expected a design without an equal failure")
}

// stepOf returns a measurement as a value by step. Steps of fbo begin with 1, and those of Vizier with 0.
func (p *problem) stepOf(m *vizierpb.Measurement) (curves.Step, error) {
	objective := p.objectives()[0]
	if len(p.objectives()) > 1 {
		return curves.Step{}, unsupported("measurement: values by step in a study with several objectives; expected a final_measurement only")
	}
	step := curves.Step{Cost: costOf(m)}
	if count := m.GetStepCount(); count >= 0 && count < curves.MaxStep {
		step.Step = uint64(count) + 1
	} else {
		return step, invalid("measurement: step_count %d: expected 0 to %d", count, curves.MaxStep-1)
	}
	if len(m.GetMetrics()) != 1 || m.GetMetrics()[0].GetMetricId() != objective.id {
		return step, invalid("measurement at step_count %d: %d metrics; expected one, the objective %q", m.GetStepCount(), len(m.GetMetrics()), objective.id)
	}
	step.Value = m.GetMetrics()[0].GetValue()
	return step, nil
}

// costOf returns the seconds of a measurement as the cost of a trial; nil if there are none.
func costOf(m *vizierpb.Measurement) *float64 {
	if seconds := m.GetElapsedDuration().AsDuration().Seconds(); seconds > 0 && !math.IsInf(seconds, 0) {
		return &seconds
	}
	return nil
}
