package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

func openTemp(t *testing.T, dir string, p Plan) *Store {
	t.Helper()
	store, err := OpenStore(dir, p, StoreOptions{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// outcome is a report without its costs, as text.
func outcome(t *testing.T, p Plan, store *Store) string {
	t.Helper()
	r, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	r.CoreSeconds, r.DrawingCoreSeconds, r.Memory = 0, 0, 0
	for i := range r.Strategies {
		r.Strategies[i].Seconds, r.Strategies[i].CoreSeconds = 0, 0
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestResultsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Strategies, p.Checkpoints = specsOf(t, "ts,fts,peer-prior,pooled"), []int{4}
		p.Network.Delay, p.Network.Jitter, p.Network.Loss = 1e9, 5e9, 0.2
	})
	var first string
	for _, workers := range []int{1, 4} {
		store := openTemp(t, t.TempDir(), p)
		if err := Run(context.Background(), p, store, Options{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		if got := outcome(t, p, store); first == "" {
			first = got
		} else if got != first {
			t.Errorf("with %d workers\n%s\nbut with 1\n%s", workers, got, first)
		}
	}
}

func TestRunGoesOnAfterAnInterruption(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Repeats, p.Strategies = 4, specsOf(t, "ts,logei") })
	whole := openTemp(t, t.TempDir(), p)
	if err := Run(context.Background(), p, whole, Options{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := openTemp(t, dir, p)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := Run(ctx, p, store, Options{Workers: 2, Progress: func(now Progress) {
		if now.Runs == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if _, err := NewReport(p, store, ""); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("error of a report on an interrupted run: %v", err)
	}
	store.Close()
	cutOff(t, store.Path())

	again := openTemp(t, dir, p)
	var last, beginning Progress
	if err := Run(context.Background(), p, again, Options{Workers: 1, Progress: func(now Progress) {
		if beginning.AllRuns == 0 {
			beginning = now
		}
		last = now
	}}); err != nil {
		t.Fatal(err)
	}
	if beginning.Runs < 3 || beginning.AllRuns != 8 {
		t.Errorf("it began again at %+v", beginning)
	}
	if last.Runs != 8 || last.Evaluations != last.AllEvaluations || last.Left() != 0 {
		t.Errorf("it ended at %+v", last)
	}
	if got, want := outcome(t, p, again), outcome(t, p, whole); got != want {
		t.Errorf("after an interruption\n%s\nwithout one\n%s", got, want)
	}
}

// cutOff adds half a line, as a crash leaves it.
func cutOff(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"repeat":3,"strategy":"t`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRepeatsAndStrategiesAreAddedToWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	evaluations := func(change func(p *Plan)) int {
		p := tiny(t, change)
		var played Progress
		store := openTemp(t, dir, p)
		if err := Run(context.Background(), p, store, Options{Progress: func(now Progress) { played = now }}); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		return played.AllEvaluations
	}
	const one = 3 * 6 // agents, evaluations
	for _, step := range []struct {
		name   string
		change func(p *Plan)
		want   int
	}{
		{"the first time", nil, 4 * one},
		{"again", nil, 0},
		{"fewer repeats", func(p *Plan) { p.Repeats = 1 }, 0},
		{"another strategy", func(p *Plan) { p.Strategies = specsOf(t, "ts,logei") }, 2 * one},
		{"more repeats", func(p *Plan) { p.Repeats = 3 }, 2 * one},
		{"the same in other words", func(p *Plan) { p.Strategies = specsOf(t, "fts:mode=concurrent,logei") }, 0},
	} {
		if got := evaluations(step.change); got != step.want {
			t.Errorf("%s: %d evaluations, want %d", step.name, got, step.want)
		}
	}
}

func TestStoreRefusesWhatItCannotBelieve(t *testing.T) {
	p := tiny(t, nil)
	for name, c := range map[string]struct{ text, want string }{
		"another plan": {"{}\n", "the first line is not that of this plan"},
		"no record":    {string(p.header()) + "\n{\n", ".jsonl:2: not a whole result"},
		"short":        {string(p.header()) + "\n" + `{"repeat":0,"members":[{"regret":[1]}]}` + "\n", ".jsonl:2: not a whole result"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, p.Hash()+".jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(dir, p, StoreOptions{Build: "test"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		fresh, err := OpenStore(dir, p, StoreOptions{Build: "test", Fresh: true})
		if err != nil {
			t.Errorf("%s: with fresh: %v", name, err)
			continue
		}
		fresh.Close()
		if text, err := os.ReadFile(path); err != nil || string(text) != string(p.header())+"\n" {
			t.Errorf("%s: a fresh file holds %q, %v", name, text, err)
		}
	}
}

func TestOneStoreAtATimeWrites(t *testing.T) {
	p, dir := tiny(t, nil), t.TempDir()
	store, err := OpenStore(dir, p, StoreOptions{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{false, true} {
		if _, err := OpenStore(dir, p, StoreOptions{Fresh: fresh}); err == nil || !strings.Contains(err.Error(), "another simulation with these settings is at work") {
			t.Errorf("fresh %t: error %v", fresh, err)
		}
	}
	openTemp(t, dir, tiny(t, func(p *Plan) { p.Seed = 2 }))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	openTemp(t, dir, p)
}

// Making federations may take minutes, and does not ask whether it is still wanted.
func TestRunCanBeStoppedWhileAFederationIsMade(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	usual := familyOf(t, "gp:d=1")
	slow := family.Catalogue{{Info: family.Info{Name: "slow"}, Build: func(family.Values) (*task.Space, family.DrawFunc, error) {
		return usual.Space, func(seed random.Seed, agents int) (family.Federation, error) {
			cancel()
			<-release
			return usual.Draw(seed, agents)
		}, nil
	}}}
	drawn, err := slow.Parse("slow")
	if err != nil {
		t.Fatal(err)
	}
	p := tiny(t, func(p *Plan) { p.Family = drawn })
	if err := Run(ctx, p, openTemp(t, t.TempDir(), p), Options{Workers: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestRunTellsOfAFailureAndStops(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Repeats, p.Agents = 50, 2; p.Family = familyOf(t, "gp:d=1,clusters=3") })
	var runs atomic.Int32
	store := openTemp(t, t.TempDir(), p)
	if err := store.Close(); err != nil { // so that no record can be kept
		t.Fatal(err)
	}
	err := Run(context.Background(), p, store, Options{Workers: 2, Progress: func(now Progress) { runs.Store(int32(now.Runs)) }})
	if err == nil || !strings.Contains(err.Error(), store.Path()) || runs.Load() != 0 {
		t.Errorf("error %v after %d runs", err, runs.Load())
	}
}
