package vizierapi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Short names of messages.
type metricValue = vizierpb.Measurement_Metric

func unknownTrial(id uint64, count int) error {
	return fmt.Errorf("%w %d: trials 1 to %d exist", agent.ErrUnknownTrial, id, count)
}

// stateOf returns the state of a trial. A trial that was stopped early has succeeded, with its last
// measurement.
func stateOf(t strategy.Trial) vizierpb.Trial_State {
	switch t.State {
	case strategy.Waiting:
		return vizierpb.Trial_REQUESTED
	case strategy.Running:
		if t.Stop != nil || t.Attributes[stoppingAttribute] != "" {
			return vizierpb.Trial_STOPPING
		}
		return vizierpb.Trial_ACTIVE
	case strategy.Failed:
		return vizierpb.Trial_INFEASIBLE
	}
	return vizierpb.Trial_SUCCEEDED
}

// show returns a trial in Vizier's terms.
func (s *study) show(t strategy.Trial) *vizierpb.Trial {
	id := strconv.FormatUint(t.ID, 10)
	shown := &vizierpb.Trial{
		Name: s.GetName() + trialsPart + id, Id: id, State: stateOf(t), ClientId: t.Client,
		Parameters: s.parametersOf(t.Design), Metadata: metadataOf(t.Attributes),
		StartTime: timeOf(t.Started), EndTime: timeOf(t.Finished),
	}
	if t.State == strategy.Failed {
		shown.InfeasibleReason = t.Reason
	}
	objective := s.objectives()[0]
	for _, step := range t.Steps {
		shown.Measurements = append(shown.Measurements, &vizierpb.Measurement{
			StepCount: int64(step.Step) - 1, Metrics: []*metricValue{{MetricId: objective.id, Value: step.Value}},
		})
	}
	switch {
	case t.Outcome != nil:
		shown.FinalMeasurement = s.measurementOf(t)
	case t.State == strategy.StoppedEarly:
		shown.FinalMeasurement = shown.Measurements[len(shown.Measurements)-1]
	}
	return shown
}

func timeOf(at time.Time) *timestamppb.Timestamp {
	if at.IsZero() {
		return nil
	}
	return timestamppb.New(at)
}

// parametersOf returns the values of the active parameters.
func (p *problem) parametersOf(d task.Design) (all []*vizierpb.Trial_Parameter) {
	for _, one := range p.parameters {
		v, value := d.Value(one.name), (*structpb.Value)(nil)
		switch v.Kind() {
		case task.Float:
			value = structpb.NewNumberValue(v.Float())
		case task.Int:
			value = structpb.NewNumberValue(float64(v.Int()))
		case task.Categorical:
			value = structpb.NewStringValue(v.Choice())
		default: // inactive
			continue
		}
		all = append(all, &vizierpb.Trial_Parameter{ParameterId: one.id, Value: value})
	}
	return all
}

// designOf returns the design of parameters that a client has chosen.
func (p *problem) designOf(given []*vizierpb.Trial_Parameter) (task.Design, error) {
	values := map[string]any{}
	for _, one := range given {
		i := slices.IndexFunc(p.parameters, func(known parameter) bool { return known.id == one.GetParameterId() })
		if i < 0 {
			return task.Design{}, invalid("parameter %.100q: the study has none of this name", one.GetParameterId())
		}
		known := p.parameters[i]
		if _, doubled := values[known.name]; doubled {
			return task.Design{}, invalid("parameter %.100q has two values, expected one", known.id)
		}
		switch v := one.GetValue().GetKind().(type) {
		case *structpb.Value_NumberValue:
			values[known.name] = v.NumberValue
		case *structpb.Value_StringValue:
			values[known.name] = v.StringValue
		case *structpb.Value_BoolValue:
			if !known.boolean {
				return task.Design{}, invalid("parameter %.100q: %t: expected a number or a text", known.id, v.BoolValue)
			}
			values[known.name] = map[bool]string{true: "True", false: "False"}[v.BoolValue]
		default:
			return task.Design{}, invalid("parameter %.100q: expected a number or a text", known.id)
		}
	}
	design, err := p.task.Space.ParseDesign(values)
	if err != nil {
		return design, invalid("parameters: %w", err)
	}
	return design, nil
}

// outcomeOf returns a final measurement as an outcome.
func (p *problem) outcomeOf(m *vizierpb.Measurement) (o strategy.Outcome, err error) {
	values := map[string]float64{}
	for _, one := range m.GetMetrics() {
		if _, doubled := values[one.GetMetricId()]; doubled {
			return o, invalid("final_measurement: metric %.100q has two values, expected one", one.GetMetricId())
		}
		values[one.GetMetricId()] = one.GetValue()
	}
	o.Cost, o.Metrics = costOf(m), map[string]float64{}
	objective := 0
	for _, known := range p.metrics {
		value, ok := values[known.id]
		if !ok {
			return o, invalid("final_measurement: metric %q is missing; expected all metrics of the study", known.id)
		}
		delete(values, known.id)
		switch {
		case known.safety:
			if o.Constraints == nil {
				o.Constraints = map[string]task.Reading{}
			}
			o.Constraints[known.name] = task.Number(value)
		case objective == 0:
			o.Value, objective = value, 1
		default:
			o.Metrics[known.name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, taken := o.Metrics[name]; taken {
			return o, invalid("final_measurement: metric %.100q: the name stands for a metric of the study; expected another one", name)
		}
		o.Metrics[name] = values[name]
	}
	if m.GetStepCount() != 0 {
		o.Annotations.Attributes = map[string]string{stepsAttribute: strconv.FormatInt(m.GetStepCount(), 10)}
	}
	return o, nil
}

// measurementOf returns the outcome of a trial as its final measurement.
func (p *problem) measurementOf(t strategy.Trial) *vizierpb.Measurement {
	m := &vizierpb.Measurement{}
	m.StepCount, _ = strconv.ParseInt(t.Attributes[stepsAttribute], 10, 64) // 0 if there is none
	if t.Cost != nil {
		m.ElapsedDuration = durationpb.New(time.Duration(min(*t.Cost, maxSeconds) * float64(time.Second)))
	}
	further := maps.Clone(t.Outcome.Metrics)
	objective := 0
	for _, known := range p.metrics {
		value := t.Outcome.Value
		switch {
		case known.safety:
			value = t.Outcome.Constraints[known.name].Float()
		case objective == 0:
			objective = 1
		default:
			value = further[known.name]
			delete(further, known.name)
		}
		m.Metrics = append(m.Metrics, &metricValue{MetricId: known.id, Value: value})
	}
	for _, name := range slices.Sorted(maps.Keys(further)) {
		m.Metrics = append(m.Metrics, &metricValue{MetricId: name, Value: further[name]})
	}
	return m
}

// maxSeconds is the largest cost that is shown as a duration.
const maxSeconds = 9e9
