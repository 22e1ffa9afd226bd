package strategytest

import (
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ViewOf returns the view of an agent with these trials. It has no posterior.
func ViewOf(definition *task.Task, trials []strategy.Trial) strategy.View {
	view := strategy.View{Task: definition, Self: "me", Trials: trials}
	for _, trial := range trials {
		if trial.State == strategy.Done {
			view.Observations++
		}
	}
	return view
}

// Published returns the payload that a new exchange of package latest publishes of a view, or nil. It
// fails the test if the share is not one that stays valid, or is published again without news.
func Published[E strategy.Exchange](t testing.TB, exchange func(*task.Task) E, view strategy.View) []byte {
	t.Helper()
	e := exchange(view.Task)
	outs := e.Step(view, strategy.Start{})
	if len(outs) == 0 {
		return nil
	}
	result, err := outs[0].(strategy.Work).Run(t.Context(), view, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	outs = e.Step(view, strategy.WorkDone{Result: result})
	if len(outs) != 1 {
		t.Fatalf("%d outputs", len(outs))
	}
	publish := outs[0].(strategy.Publish)
	if publish.Ephemeral || publish.Slot != 0 || publish.TTL != protocol.MaxTTL {
		t.Errorf("published as %+v", publish)
	}
	if again := e.Step(view, strategy.TrialsEnded{}); len(again) != 0 {
		t.Errorf("without news: %v", again)
	}
	return publish.Payload
}
