package agent

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

// estimating is an exchange that can estimate.
type estimating struct {
	brittle
	asked func()
}

func (e estimating) EstimateAlone() { e.asked() }

// Exchanges are asked for estimates before they start, where the agent shall, and not
// otherwise.
func TestEstimatesAreAskedFor(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		asked := []string{}
		cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
		cfg.Estimate = wanted
		cfg.Exchanges = []strategy.Exchange{estimating{
			brittle{step: func(in strategy.Input) []strategy.Output {
				if _, ok := in.(strategy.Start); ok {
					asked = append(asked, "start")
				}
				return nil
			}},
			func() { asked = append(asked, "estimate") },
		}}
		newDriver(t, cfg)
		want := []string{"start"}
		if wanted {
			want = []string{"estimate", "start"}
		}
		if !slices.Equal(asked, want) {
			t.Errorf("wanted %v: %q", wanted, asked)
		}
	}
	cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
	cfg.Estimate, cfg.Exchanges = true, []strategy.Exchange{estimating{asked: func() { panic("boom") }}}
	if _, err := New(cfg, nil, epochStart); err == nil || err.Error() != `the exchange "brittle" panicked: boom` {
		t.Errorf("after a panic: %v", err)
	}
}

// rewarder is a result that reports rewards.
type rewarder func() []strategy.Reward

func (r rewarder) Rewards() []strategy.Reward { return r() }

// An agent reports the rewards of one of its exchanges; none where there is no such
// exchange, and none where that panics.
func TestAgentReportsRewardsOfItsExchange(t *testing.T) {
	want := []strategy.Reward{{Party: "party", Evaluations: 3, Sum: 4.5}}
	for name, c := range map[string]struct {
		result any
		want   []strategy.Reward
	}{
		"reports": {rewarder(func() []strategy.Reward { return want }), want},
		"another": {"a text", nil},
		"panics":  {rewarder(func() []strategy.Reward { panic("boom") }), nil},
	} {
		d := withBrittle(t, brittle{step: func(in strategy.Input) []strategy.Output {
			if _, ok := in.(strategy.Start); ok {
				return []strategy.Output{strategy.Result{Value: c.result}}
			}
			return nil
		}})
		if got := d.agent.Rewards(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
