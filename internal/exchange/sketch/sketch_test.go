package sketch

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func newTask(t *testing.T) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", []byte("name: test\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+
		"stop: {type: asha, share: quartiles}\nstrategy: {type: some}\n"), []task.StrategyType{{Name: "some"}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// trials returns ended trials, of which every other one was stopped at step 1.
func trials(count int) (all []strategy.Trial) {
	for i := range count {
		first := float64(i)
		trial := strategy.Trial{ID: uint64(i + 1), State: strategy.Done, Steps: curves.Curve{{Step: 1, Value: first}, {Step: 3, Value: first - .25}}}
		if i%2 == 1 {
			trial.State, trial.Stop, trial.Steps = strategy.StoppedEarly, &curves.Stop{Rule: task.ASHARule, Step: 1}, trial.Steps[:1]
		} else {
			trial.Outcome = &strategy.Outcome{Value: first - .5}
		}
		all = append(all, trial)
	}
	return all
}

// published returns the share that a starting exchange publishes; nil if it publishes none.
func published(t *testing.T, of *task.Task, all []strategy.Trial) []byte {
	t.Helper()
	view := strategy.View{Task: of, Trials: all}
	outputs := New(of).Step(view, strategy.Start{})
	if len(outputs) == 0 {
		return nil
	}
	work := outputs[0].(strategy.Work)
	e := New(of)
	e.Step(view, strategy.Start{})
	result, err := work.Run(t.Context(), view, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	outputs = e.Step(view, strategy.WorkDone{Name: work.Name, Result: result})
	return outputs[0].(strategy.Publish).Payload
}

func TestSharesFromFourTrials(t *testing.T) {
	of := newTask(t)
	running := append(trials(3), strategy.Trial{ID: 4, State: strategy.Running, Steps: curves.Curve{{Step: 1, Value: 3}}})
	for name, all := range map[string][]strategy.Trial{
		"three": trials(3), "three and a running one": running, "four without values": make([]strategy.Trial, 4),
	} {
		if payload := published(t, of, all); payload != nil {
			t.Errorf("%s: %d bytes are published", name, len(payload))
		}
	}
	value, err := New(of).Decode(published(t, of, trials(8)))
	if err != nil {
		t.Fatal(err)
	}
	got := Of([]*strategy.Share{{Value: 3}, {Value: value}})
	if len(got) != 1 || len(got[0]) != 2 || got[0][0].Count != 8 || got[0][0].Complete != 4 || got[0][1].Count != 4 || got[0][0].Changes[1] != -.5 {
		t.Errorf("got %+v", got)
	}
}

// TestForgedSharesAreAccepted: adversaries of experiments attack with shares that peers accept.
func TestForgedSharesAreAccepted(t *testing.T) {
	of := newTask(t)
	payload := published(t, of, trials(8))
	for _, attack := range []strategy.Forgery{{}, {Corner: true}, {Extreme: true}} {
		attack.Rand = random.SeedOf(1).Stream("forgery", 0)
		forged, err := Addition().Forge(of, payload, attack)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(of).Decode(forged); err != nil || slices.Equal(forged, payload) {
			t.Errorf("%+v: %v", attack, err)
		}
	}
	if _, err := Addition().Forge(of, []byte("no share"), strategy.Forgery{}); err == nil {
		t.Error("a payload of another kind is forged")
	}
}

// TestTasksAskForTheExchange: only tasks with the key have it, under any strategy.
func TestTasksAskForTheExchange(t *testing.T) {
	with := newTask(t)
	without := *with
	without.Stop = nil
	if a := Addition(); !a.Applies(with) || a.Applies(&without) || a.Kind != protocol.CurvesKind {
		t.Errorf("applies: %t, %t", a.Applies(with), a.Applies(&without))
	}
}
