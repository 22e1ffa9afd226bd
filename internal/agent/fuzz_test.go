package agent

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func FuzzDecodeRecord(f *testing.F) {
	for _, line := range exampleJournal(f) {
		f.Add(line)
	}
	f.Add([]byte(`{"epoch":{"epoch":1},"return":{"id":1}}`))
	f.Add([]byte(`{"epoch":{"epoch":1}} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeRecord(data)
		if err != nil {
			return
		}
		encoded, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeRecord(encoded)
		if err != nil {
			t.Fatalf("%s was encoded as %s: %v", data, encoded, err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, encoded) || again.Key() != r.Key() {
			t.Fatalf("%s became %s, %v", encoded, twice, err)
		}
	})
}

// exampleJournal holds every kind of record.
func exampleJournal(t testing.TB) [][]byte {
	t.Helper()
	d := newDriver(t, configOf(t, newTask(t, "coin", "type: fts, mode: one-shot, share_after: 1, initial_designs: 1"), 1))
	trial := d.ask()
	d.tell(trial.ID, 1)
	if _, err := d.agent.Import(d.now, []Past{{Design: trial.Design, Outcome: strategy.Outcome{Value: 3, Constraints: map[string]task.Reading{"c": task.Number(1)}, Metrics: map[string]float64{"m": 2}}}}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	failed := d.ask()
	if err := d.agent.Fail(d.now, failed.ID, "broken"); err != nil {
		t.Fatal(err)
	}
	returned := d.ask()
	if err := d.agent.Requeue(d.now, returned.ID); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	d.askFor(Claim{Client: "a", Lease: time.Hour})
	d.agent.Remember(Once{Key: "k", Digest: "d"}, Reply{Trials: []uint64{returned.ID}})
	if err := d.agent.Annotate(d.now, trial.ID, strategy.AnnotationChange{Tags: []string{"a"}, Notes: []strategy.Note{{Text: "a note"}}}); err != nil {
		t.Fatal(err)
	}
	stopped := d.ask()
	if _, err := d.agent.Report(d.now, stopped.ID, []curves.Step{{Step: 1, Value: 2}, {Step: 3, Value: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := d.agent.EndStopped(d.now, stopped.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	queued, err := d.agent.Enqueue(d.now, trial.Design)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.agent.Withdraw(queued.ID); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	kinds := map[string]bool{}
	for _, r := range decodeAll(t, d.journal) {
		for kind, set := range map[string]bool{"task": r.Task != nil, "epoch": r.Epoch != nil, "trial": r.Trial != nil,
			"offer": r.Offer != nil, "return": r.Return != nil, "tell": r.Tell != nil, "fail": r.Fail != nil,
			"fit": r.Fit != nil, "sent": r.Sent != nil, "note": r.Note != nil, "reply": r.Reply != nil,
			"enqueue": r.Enqueue != nil, "withdraw": r.Withdraw != nil, "annotate": r.Annotate != nil,
			"steps": r.Steps != nil, "stop": r.StopTrial != nil, "stopped": r.Stopped != nil} {
			if set {
				kinds[kind] = true
			}
		}
	}
	if len(kinds) != 17 {
		t.Fatalf("the example journal has only %v", kinds)
	}
	return d.journal
}

// New on a damaged journal gives an error or an agent, and neither New nor what
// the agent does first may panic. The fuzzer edits the lines of a good journal.
func FuzzNewOnDamagedJournal(f *testing.F) {
	journal := exampleJournal(f)
	f.Add(bytes.Join(journal, []byte("\n")))
	f.Add(bytes.Join(journal[2:], []byte("\n")))
	f.Add(bytes.Join(append(journal, journal...), []byte("\n")))
	for _, line := range []string{
		`{"return":{"id":1}}`,
		`{"tell":{"id":1,"outcome":{"value":1},"time":"2030-01-01T00:00:00Z"}}`,
		`{"trial":{"id":1,"parameters":null,"why":{"source":"own"},"time":"2030-01-01T00:00:00Z"}}`,
		`{"trial":{"id":1,"parameters":{"side":"heads"},"why":{"source":"own"},"time":"2030-01-01T00:00:00Z"}}` + "\n" + `{"return":{"id":1}}` + "\n" + `{"return":{"id":1}}`,
		`{"epoch":{"epoch":18446744073709551615}}`,
		`{"fit":{"observations":-5,"hyperparameters":{"noise":-1}}}` + "\n" + string(bytes.Join(journal[:6], []byte("\n"))),
		`{"sent":{"kind":"weights","slot":0,"envelope":"AAAA","time":"2030-01-01T00:00:00Z"}}`,
		`{"note":{"exchange":"weights","data":""}}`,
		`{"task":{"canonical":{}}}`,
		`{"trial":{"id":1,"parameters":{"side":"heads"},"why":{"source":"own"},"time":"2030-01-01T00:00:00Z","client":"a","lease":-1}}`,
		`{"reply":{"number":5,"key":"a","digest":"b","trials":[1]}}` + "\n" + `{"reply":{"number":5,"key":"a","digest":"b","trials":[1]}}`,
	} {
		f.Add([]byte(line))
	}
	cfg := configOf(f, newTask(f, "coin", "type: fts, mode: one-shot, share_after: 1, initial_designs: 1"), 1)
	cfg.Lease = time.Minute
	f.Fuzz(func(t *testing.T, data []byte) {
		var records []Record
		for line := range bytes.Lines(data) {
			if r, err := DecodeRecord(line); err == nil {
				records = append(records, r)
			}
		}
		a, err := New(cfg, records, epochStart)
		if err != nil {
			return
		}
		_, _ = ReadHistory(records, all.Strategies()) // need not hold a task
		a.Ask(epochStart, 1)
		for range 100 {
			r := a.Ready()
			if isEmpty(r) {
				break
			}
			for _, work := range r.Work {
				a.Done(epochStart, work.ID, work.Run(context.Background()))
			}
		}
		a.Tick(epochStart.Add(time.Hour))
		a.Stop(epochStart.Add(time.Hour))
	})
}

func TestDecodeRecordRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `null`, `[]`, `{"epoch":null}`, `{"epoch":{"epoch":1},"return":{"id":1}}`, `{"epoch":{"epoch":1}}{}`,
		`{"epoch":{"epoch":1,"colour":2}}`, `{"future":{}}`, `{"epoch":{"epoch":-1}}`, `{"sent":{"envelope":"?"}}`,
		`{"trial":{"id":1,"why":{"peer":"nobody"}}}`,
	} {
		if r, err := DecodeRecord([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// Lines that are lost, doubled, swapped or of another journal give an error or
// an agent that works.
func TestDamagedJournals(t *testing.T) {
	journal := exampleJournal(t)
	cfg := configOf(t, newTask(t, "coin", "type: fts, mode: one-shot, share_after: 1, initial_designs: 1"), 1)
	refused := 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := slices.Clone(journal)
		for range rapid.IntRange(1, 4).Draw(rt, "damages") {
			i, j := rapid.IntRange(0, len(lines)-1).Draw(rt, "line"), rapid.IntRange(0, len(lines)-1).Draw(rt, "other")
			switch rapid.IntRange(0, 3).Draw(rt, "damage") {
			case 0:
				lines[i], lines[j] = lines[j], lines[i]
			case 1:
				lines = slices.Insert(lines, i, lines[j])
			case 2:
				lines[i] = bytes.Clone(lines[i])
				lines[i][rapid.IntRange(0, len(lines[i])-1).Draw(rt, "byte")] = byte(rapid.IntRange('0', 'z').Draw(rt, "to"))
			case 3:
				if len(lines) > 1 {
					lines = slices.Delete(lines, i, i+1)
				}
			}
		}
		var records []Record
		for _, line := range lines {
			r, err := DecodeRecord(line)
			if err != nil {
				refused++
				return
			}
			records = append(records, r)
		}
		d := &driver{t: t, cfg: cfg, now: epochStart.Add(time.Hour), stamps: map[protocol.Stamp][32]byte{}}
		a, err := New(cfg, records, d.now)
		if err != nil {
			refused++
			return
		}
		d.agent = a
		d.carryOut()
		for _, trial := range a.Trials() {
			if trial.Attempts < 0 {
				rt.Fatalf("trial %d has had %d attempts", trial.ID, trial.Attempts)
			}
		}
		d.run(1, func(task.Design) float64 { return 1 })
	})
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}
