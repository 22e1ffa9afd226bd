package surrogates_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/surrogates"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// Each surrogate has the exchange that it needs, beside those of the strategy, and none else.
func TestExtendAddsExchangeOfSurrogate(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                     "",
		"{type: rff}":                            "",
		"{hyperparameters: learned}":             "",
		"{hyperparameters: shared}":              protocol.HyperparametersKind,
		"{type: shared-latent}":                  protocol.LatentKind,
		"{type: exact, hyperparameters: shared}": protocol.HyperparametersKind,
	} {
		for _, name := range []string{"alone", "density"} {
			definition, err := all.Strategies().Parse("test", []byte("name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nstrategy: {type: "+name+"}\nsurrogate: "+text+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := all.Strategies().Of(definition)
			if err != nil {
				t.Fatal(err)
			}
			var had []string
			if r.Shares() {
				had = names(t, r, strategy.Env{Task: definition})
			}
			extended := surrogates.Extend(r, definition)
			if want == "" {
				if extended.Shares() != r.Shares() || strings.Contains(extended.Summary(definition), "tell each other what their results say") {
					t.Errorf("%s with surrogate %s is changed", name, text)
				}
				continue
			}
			got := names(t, extended, strategy.Env{Task: definition})
			if strings.Join(got, " ") != strings.Join(append(had, want), " ") {
				t.Errorf("%s with surrogate %s has the exchanges %q, want %q and %q", name, text, got, had, want)
			}
		}
	}
}

func names(t *testing.T, r strategy.Registration, env strategy.Env) (list []string) {
	t.Helper()
	exchanges, err := r.Disclosure(env.Task).Exchanges(env)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exchanges {
		list = append(list, e.Name())
	}
	return list
}
