package all_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Each surrogate adds its exchange to those of the strategy, and no other.
func TestSurrogatesAddTheirExchange(t *testing.T) {
	kinds := map[string]string{"type: shared-latent": protocol.LatentKind, "hyperparameters: shared": protocol.HyperparametersKind}
	surrogates := []string{"type: exact", "type: rff", "hyperparameters: learned"}
	for _, e := range all.Extensions() {
		surrogates = append(surrogates, e.String())
	}
	for _, text := range surrogates {
		for _, r := range all.Strategies() {
			if r.Name != "alone" && r.Name != "fts" {
				continue
			}
			definition, err := all.Strategies().Parse("test", []byte("name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nstrategy: {type: "+r.Name+"}\nsurrogate: {"+text+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			extended, err := all.Strategies().Of(definition)
			if err != nil {
				t.Fatal(err)
			}
			want := names(t, r, definition)
			if kind, ok := kinds[text]; ok {
				want = append(want, kind)
			}
			if got := names(t, extended, definition); !slices.Equal(got, want) {
				t.Errorf("%s with surrogate %s has the exchanges %q, want %q", r.Name, text, got, want)
			}
			if shares := !strings.Contains(extended.Summary(definition), "nothing is shared"); shares != (len(want) > 0) {
				t.Errorf("%s with surrogate %s: %s", r.Name, text, extended.Summary(definition))
			}
		}
	}
}

func names(t *testing.T, r strategy.Registration, definition *task.Task) (list []string) {
	t.Helper()
	disclosure := r.Disclosure(definition)
	if disclosure.Exchanges == nil {
		return nil
	}
	exchanges, err := disclosure.Exchanges(strategy.Env{Task: definition})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exchanges {
		list = append(list, e.Name())
	}
	return list
}
