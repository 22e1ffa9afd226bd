package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Settings of strategies and of the baseline random that select the rule by which agents stop
// evaluations, in families with learning curves. They are settings of the experiment, since the
// section stop is not part of the task's ID.
const (
	stopKey      = "stop"
	graceKey     = "grace_period"
	reductionKey = "reduction_factor"

	stopShareKey = "stop_share" // the key share of the section stop
)

// withoutStop returns the spec without the settings of the rule.
func withoutStop(s Spec) Spec {
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(x Setting) bool {
		return x.Key == stopKey || x.Key == graceKey || x.Key == reductionKey || x.Key == stopShareKey
	})
	return s
}

// stoppingOf returns the rule of a spec; nil if it has none.
func stoppingOf(s Spec) (*task.Stopping, error) {
	if !s.has(stopKey) {
		for _, key := range []string{graceKey, reductionKey, stopShareKey} {
			if s.has(key) {
				return nil, fmt.Errorf("%s is a key beside stop=asha or stop=median", key)
			}
		}
		return nil, nil
	}
	rule := &task.Stopping{Type: s.setting(stopKey), GracePeriod: 1, ReductionFactor: 3, StartupTrials: 5}
	if !slices.Contains([]string{task.ForecastRule, task.ASHARule, task.MedianRule}, rule.Type) {
		return nil, fmt.Errorf("%s must be one of %s, %s, %s, not %q", stopKey, task.ForecastRule, task.ASHARule, task.MedianRule, rule.Type)
	}
	if s.has(stopShareKey) {
		if rule.Share = s.setting(stopShareKey); rule.Share != task.ShareQuartiles || rule.Type == task.MedianRule {
			return nil, fmt.Errorf("%s must be %s, with stop=asha or stop=forecast", stopShareKey, task.ShareQuartiles)
		}
	}
	for _, x := range s.Settings {
		if x.Key != graceKey && x.Key != reductionKey {
			continue
		}
		low := 1
		if x.Key == reductionKey {
			low = 2
		}
		n, err := strconv.Atoi(x.Value)
		if err != nil || n < low || n > 100 {
			return nil, fmt.Errorf("%s %q must be a whole number from %d to 100", x.Key, x.Value, low)
		}
		if x.Key == graceKey {
			rule.GracePeriod = uint64(n)
		} else {
			rule.ReductionFactor = n
		}
	}
	return rule, nil
}

// stoppingName returns the rule for Plan.key; empty without one.
func stoppingName(s Spec) string {
	rule, err := stoppingOf(s)
	if err != nil {
		panic(err) // unexpected: Complete has checked the settings
	}
	if rule == nil {
		return ""
	}
	name := fmt.Sprintf(" stop=%s grace_period=%d", rule.Type, rule.GracePeriod)
	if rule.Type == task.ASHARule {
		name += fmt.Sprintf(" reduction_factor=%d", rule.ReductionFactor)
	}
	if rule.Shares() {
		name += " share=" + rule.Share
	}
	return name
}

// reportsSteps reports whether a simulated member reports values by step: its family has them, and a
// strategy of the plan stops evaluations. Its budget is then in steps: those of as many full
// evaluations.
func (p Plan) reportsSteps(m family.Member) bool {
	return m.Objective.Curve != nil && slices.ContainsFunc(p.Strategies, func(s Spec) bool { return s.has(stopKey) })
}

// bySteps returns, for each full evaluation of the budget, the smallest regret of the outcomes that
// the member had when it had used as many steps. Before its first outcome it is the regret of the
// first design.
func bySteps(trials []strategy.Trial, steps, evaluations int, judge func(task.Design) (regret, violation float64)) []Number {
	regrets := make([]Number, 0, evaluations)
	best, used := math.NaN(), 0
	for _, trial := range trials {
		used += len(trial.Steps)
		for len(regrets) < evaluations && used > (len(regrets)+1)*steps {
			regrets = append(regrets, Number(best))
		}
		if trial.State == strategy.Done {
			if regret, _ := judge(trial.Design); !(best <= regret) {
				best = regret
			}
		}
	}
	for len(regrets) < evaluations {
		regrets = append(regrets, Number(best))
	}
	first, _ := judge(trials[0].Design)
	for i := range regrets {
		if math.IsNaN(float64(regrets[i])) {
			regrets[i] = Number(first)
		}
		regrets[i] = Number(max(float64(regrets[i]), 0))
	}
	return regrets
}
