package agent

import (
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

// reporter is a result that reports items.
type reporter func() []strategy.StatusItem

func (r reporter) Status() []strategy.StatusItem { return r() }

// An agent reports the items of its exchanges. A result that panics, or has no JSON form, becomes
// an item with the error.
func TestAgentReportsItemsOfItsExchange(t *testing.T) {
	type value = []struct{ Party string }
	for name, c := range map[string]struct {
		result any
		want   []strategy.StatusItem
	}{
		"reports": {
			reporter(func() []strategy.StatusItem {
				return []strategy.StatusItem{{Key: "rewards", Label: "rewards", Value: value{{"a"}}, Text: "one", Rows: [][]string{{"party"}, {"a"}}}}
			}),
			[]strategy.StatusItem{{Key: "rewards", Label: "rewards", Text: "one", Rows: [][]string{{"party"}, {"a"}}}},
		},
		"another": {"a text", nil},
		"panics": {
			reporter(func() []strategy.StatusItem { panic("boom") }),
			[]strategy.StatusItem{{Key: "brittle", Label: "error", Text: `the exchange "brittle" panicked: boom`}},
		},
		"no JSON": {
			reporter(func() []strategy.StatusItem { return []strategy.StatusItem{{Key: "sum", Value: math.NaN()}} }),
			[]strategy.StatusItem{{Key: "brittle", Label: "error", Text: `status item "sum" has no JSON form: json: unsupported value: NaN`}},
		},
	} {
		d := withBrittle(t, brittle{step: func(in strategy.Input) []strategy.Output {
			if _, ok := in.(strategy.Start); ok {
				return []strategy.Output{strategy.Result{Value: c.result}}
			}
			return nil
		}})
		got := d.agent.Status()
		if parties, ok := strategy.StatusValue[value](got, "rewards"); ok != (name == "reports") || ok && parties[0].Party != "a" {
			t.Errorf("%s: value %v, %v", name, parties, ok)
		}
		if effect := got[len(got)-1]; effect.Key != strategy.PeerEffectKey {
			t.Errorf("%s: the last item is %+v", name, effect)
		}
		got = got[:len(got)-1]
		for i := range got {
			got[i].Value = nil
		}
		if len(got) == 0 {
			got = nil
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The exchanges get the wish for an estimate.
func TestExchangesAreAskedForEstimates(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
		registration, err := cfg.Strategies.Of(cfg.Task)
		if err != nil {
			t.Fatal(err)
		}
		got := !wanted
		disclosure := registration.Disclosure(cfg.Task)
		exchanges := disclosure.Exchanges
		disclosure.Exchanges = func(env strategy.Env) ([]strategy.Exchange, error) {
			got = env.EstimateAlone
			return exchanges(env)
		}
		registration.Disclosures = []strategy.Disclosure{disclosure}
		cfg.EstimateAlone, cfg.Strategies = wanted, strategy.Set{registration}
		if newDriver(t, cfg); got != wanted {
			t.Errorf("exchanges are asked for an estimate: %v, want %v", got, wanted)
		}
	}
}
