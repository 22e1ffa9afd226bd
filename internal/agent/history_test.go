package agent

import (
	"errors"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

func TestEpochGrowsByOneWithEachStart(t *testing.T) {
	d := newBowl(t)
	for want := uint64(1); want < 8; want++ {
		if got := d.agent.Epoch(); got != want {
			t.Fatalf("epoch %d, want %d", got, want)
		}
		d.run(1, bowl)
		if want%3 == 0 {
			d.journal = compact(t, d.journal)
		}
		d.start()
	}
}

// Hyperparameters are restored and not learned anew.
func TestFitsAreRestored(t *testing.T) {
	d := newBowl(t)
	d.run(5, bowl)
	d.start()
	for _, r := range d.records {
		if r.Fit != nil {
			t.Errorf("a restart without news fitted anew: %+v", r.Fit)
		}
	}
}

func TestReadHistory(t *testing.T) {
	d := newBowl(t)
	d.run(4, bowl)
	d.start()
	d.ask()
	h, err := ReadHistory(decodeAll(t, compact(t, d.journal)), all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	if h.Task.ID() != d.cfg.Task.ID() || h.Epoch != 2 || show(h.Trials) != show(d.agent.Trials()) || h.Best.ID != d.agent.Best().ID {
		t.Errorf("history %+v", h)
	}
	if _, err := ReadHistory(nil, all.Strategies()); err == nil {
		t.Error("an empty journal has a history")
	}
}

func TestHistoryOfAnUnknownStrategy(t *testing.T) {
	d := newBowl(t)
	d.run(1, bowl)
	own := d.cfg.Task.Strategy.Type
	others := slices.DeleteFunc(all.Strategies(), func(r strategy.Registration) bool { return r.Name == own })
	_, err := ReadHistory(decodeAll(t, d.journal), others)
	var unknown *strategy.UnknownError
	if !errors.As(err, &unknown) || unknown.Type != own {
		t.Fatalf("%v, want an UnknownError of %s", err, own)
	}
	want := `task in journal: strategy "` + own + `" is unknown to this program; the program that wrote it can read it`
	if err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestJournalOfAnotherTaskIsRefused(t *testing.T) {
	d := newBowl(t)
	d.run(2, bowl)
	cfg := configOf(t, newTask(t, "bowl", "type: ts"), 1)
	if _, err := New(cfg, decodeAll(t, d.journal), d.now); err == nil {
		t.Error("no error")
	}
}
