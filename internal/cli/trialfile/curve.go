package trialfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// curveRow holds what a row has about values by step, not yet checked.
type curveRow struct {
	steps        any            // all of them, in a form of toCurve
	intermediate []curves.Step  // those of an Optuna study; steps count from 1
	stop         map[string]any // the decision to stop, by stopKeys
	study        bool           // the state is Optuna's
}

// Keys of curveRow.stop, as in the JSON of a trial.
const (
	stopRule   = "rule"
	stopStep   = "step"
	stopReason = "reason"

	stopForecast  = "forecast"
	stopDeviation = "deviation"
)

// stopKeys maps columns to these keys.
var stopKeys = map[string]string{
	export.StopRuleColumn: stopRule, export.StopStepColumn: stopStep, export.StopReasonColumn: stopReason,
	export.StopForecastColumn: stopForecast, export.StopDeviationColumn: stopDeviation,
}

// putIntermediate adds a value of an Optuna study. It leaves out values that are not finite numbers,
// which Optuna accepts.
func (r *curveRow) putIntermediate(step uint64, cell any) {
	if value, err := toNumber(cell); err == nil {
		r.intermediate = append(r.intermediate, curves.Step{Step: step, Value: value})
	}
}

func (r *curveRow) putStop(key string, cell any) {
	if r.stop == nil {
		r.stop = map[string]any{}
	}
	r.stop[key] = cell
}

// curve returns the values by step; none is nil. Of an Optuna study with more than curves.MaxSteps it
// keeps that many, at equal distances.
func (r curveRow) curve() (curves.Curve, error) {
	curve := curves.Curve(slices.Clone(r.intermediate))
	if r.steps != nil {
		var err error
		if curve, err = toCurve(r.steps); err != nil {
			return nil, fmt.Errorf("%s: %w", export.StepsColumn, err)
		}
	} else {
		sort.Slice(curve, func(i, j int) bool { return curve[i].Step < curve[j].Step })
		if n := len(curve); n > curves.MaxSteps {
			for i := range curves.MaxSteps {
				curve[i] = curve[i*(n-1)/(curves.MaxSteps-1)]
			}
			curve = curve[:curves.MaxSteps]
		}
	}
	if err := curve.Check(); err != nil {
		return nil, err
	}
	return curve, nil
}

// decision returns the decision to stop a trial with this curve. Without a rule in the file the
// program has decided.
func (r curveRow) decision(curve curves.Curve) (*curves.Stop, error) {
	stop := &curves.Stop{Rule: agent.ProgramRule, Step: curve.Last().Step, Reason: "as imported"}
	if rule, ok := r.stop[stopRule]; ok {
		rules := []string{task.ForecastRule, task.ASHARule, task.MedianRule, curves.PatienceRule, agent.ProgramRule}
		if stop.Rule = fmt.Sprint(rule); !slices.Contains(rules, stop.Rule) {
			return nil, fmt.Errorf("%s: %q; expected %s", export.StopRuleColumn, stop.Rule, strings.Join(rules, ", "))
		}
		stop.Reason = ""
	}
	if step, ok := r.stop[stopStep]; ok {
		var err error
		if stop.Step, err = toStep(step); err != nil {
			return nil, fmt.Errorf("%s: %w", export.StopStepColumn, err)
		}
	}
	if reason, ok := r.stop[stopReason]; ok {
		stop.Reason = fmt.Sprint(reason)
	}
	if forecast, ok := r.stop[stopForecast]; ok {
		mean, err := toNumber(forecast)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", export.StopForecastColumn, err)
		}
		stop.Forecast = &mean
	}
	if deviation, ok := r.stop[stopDeviation]; ok && stop.Forecast != nil {
		var err error
		if stop.Deviation, err = toNumber(deviation); err != nil || stop.Deviation < 0 {
			return nil, fmt.Errorf("%s: %v; expected a number of 0 or more", export.StopDeviationColumn, deviation)
		}
	}
	return stop, nil
}

// decisionBefore returns the decision to stop a trial that has ended otherwise, as by patience; nil if
// there was none. Without values by step the file does not have the evaluation that was to be stopped.
func (r curveRow) decisionBefore(curve curves.Curve) (*curves.Stop, error) {
	if _, ok := r.stop[stopRule]; !ok || len(curve) == 0 {
		return nil, nil
	}
	return r.decision(curve)
}

// stopped reports whether a state is that of a trial that was stopped early, in this program's terms
// or Optuna's.
func (r curveRow) stopped(state string) bool {
	if r.study {
		return state == "PRUNED"
	}
	return state == string(strategy.StoppedEarly)
}

var errSteps = errors.New(`expected [[1, 0.5], [2, 0.25]] or [{"step": 1, "value": 0.5}]`)

// toCurve reads values by step: an array of arrays or of objects, or its JSON.
func toCurve(raw any) (curves.Curve, error) {
	if text, ok := raw.(string); ok {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&raw); err != nil || decoder.More() {
			return nil, errSteps
		}
	}
	list, ok := raw.([]any)
	if !ok {
		return nil, errSteps
	}
	var curve curves.Curve
	for _, item := range list {
		var step, value any
		switch item := item.(type) {
		case []any:
			if len(item) != 2 {
				return nil, errSteps
			}
			step, value = item[0], item[1]
		case map[string]any:
			step, value = item["step"], item["value"]
		default:
			return nil, errSteps
		}
		s := curves.Step{}
		var err error
		if s.Step, err = toStep(step); err != nil {
			return nil, err
		}
		if s.Value, err = toNumber(value); err != nil {
			return nil, fmt.Errorf("step %d: %w", s.Step, err)
		}
		curve = append(curve, s)
	}
	return curve, nil
}

func toStep(raw any) (uint64, error) {
	v, err := toNumber(raw)
	if err != nil || v != math.Trunc(v) || v < 1 || v > curves.MaxStep {
		return 0, fmt.Errorf("step %v; expected a whole number from 1 to %d", raw, curves.MaxStep)
	}
	return uint64(v), nil
}
