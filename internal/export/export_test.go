package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

var update = flag.Bool("update", false, "write the golden files anew")

const everything = `name: everything, <here>
goal: maximize
parameters:
  - {name: rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: momentum, type: float, low: 0, high: 1}
  - {name: dropout, type: float, low: 0.1, high: 1, step: 0.3}
  - {name: size, type: float, choices: [0.5, 1, 4]}
  - {name: layers, type: int, low: 1, high: 8, step: 3}
  - {name: units, type: int, low: 1, high: 1000, scale: log}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: kind, type: categorical, choices: [sgd, "a, b", "7", "ä\"<&>"]}
  - {name: code, type: categorical, choices: [7, 0.5]}
  - {name: on, type: bool}
constraints:
  - {name: ram, high: 10}
  - {name: gap, low: -1, high: 1}
  - {name: sound, type: bool}
`

func parse(t *testing.T, text string) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func design(t *testing.T, of *task.Task, text string) task.Design {
	t.Helper()
	d, err := of.Space.UnmarshalDesign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// trialsOf has a trial of each state, and of each kind of reason.
func trialsOf(t *testing.T, of *task.Task) []strategy.Trial {
	t.Helper()
	id, err := peer.Decode("12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp")
	if err != nil {
		t.Fatal(err)
	}
	first := design(t, of, `{"rate": 0.01, "momentum": 1, "dropout": 0.4, "size": 4, "layers": 7, "units": 3, "batch": 32, "kind": "a, b", "code": 0.5, "on": true}`)
	second := design(t, of, `{"rate": 1, "momentum": 0, "dropout": 1, "size": 0.5, "layers": 1, "units": 1000, "batch": 16, "kind": "ä\"<&>", "code": 7, "on": false}`)
	begin := time.Date(2026, 3, 29, 1, 59, 59, 123456789, time.FixedZone("", 3600))
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	measured := func(value, ram, gap float64, sound bool) *strategy.Outcome {
		return &strategy.Outcome{
			Value:       value,
			Constraints: map[string]task.Reading{"ram": task.Number(ram), "gap": task.Number(gap), "sound": task.Truth(sound)},
		}
	}
	trials := []strategy.Trial{
		{ID: 1, Design: first, State: strategy.Done, Attempts: 1, Started: at(0), Finished: at(1), Outcome: measured(0.5, 10, -0.25, true), Why: strategy.Why{Source: strategy.Initial}},
		{ID: 2, Design: second, State: strategy.Done, Attempts: 1, Started: at(1), Finished: at(2), Outcome: measured(2, 12, 1.5, false), Why: strategy.Why{Source: "peer", Phrase: "sample from a peer", Peer: id, Observations: 9}},
		{ID: 3, Design: second, State: strategy.Failed, Attempts: 2, Started: at(2), Finished: at(3), Reason: "exit code 3:\n\"out of memory\", <here>", Why: strategy.Why{Source: strategy.Own}},
		{ID: 4, Design: first, State: strategy.Running, Attempts: 1, Started: at(4), Why: strategy.Why{Source: "designs", Phrase: "expected improvement, given the designs of 3 peers", PeerCount: 3}},
		{ID: 5, Design: first, State: strategy.Waiting, Attempts: 1, Started: at(4), Why: strategy.Why{Source: strategy.Own}},
		{ID: 6, Design: second, State: strategy.Done, Finished: at(5), Outcome: measured(-1e300, -3, 1, true), Why: strategy.Why{Source: strategy.Imported}},
	}
	trials = append(trials, strategy.Trial{
		ID: 7, Design: first, State: strategy.StoppedEarly, Attempts: 1, Started: at(6), Finished: at(7), Why: strategy.Why{Source: strategy.Own},
		Steps: curves.Curve{{Step: 1, Value: 0.5}, {Step: 3, Value: 1e-7}, {Step: 1000000000, Value: -2}},
		Stop:  &curves.Stop{Rule: "program", Step: 3, Reason: "=loss, \"rose\"\x1b"},
	}, strategy.Trial{
		ID: 8, Design: second, State: strategy.Done, Attempts: 1, Started: at(6), Finished: at(8), Why: strategy.Why{Source: strategy.Own},
		Steps: curves.Curve{{Step: 2, Value: -4}}, Stop: &curves.Stop{Rule: curves.PatienceRule, Step: 2, Reason: "no improvement"}, Outcome: measured(-4, 3, 1, true),
	})
	trials[2].Annotations = strategy.Annotations{
		Attributes: map[string]string{"commit": "=abc\n\u202e", "source": "mine"}, Tags: []string{"a, b", "c"},
		Files: []strategy.File{{Path: "out/model.pt", SHA256: strings.Repeat("0f", 32)}, {Path: "https://files.example/<x>"}},
		Notes: []strategy.Note{{ID: 1, Time: at(9), Author: "me", Text: "first\nline"}, {ID: 3, Time: at(10), Text: "<second>"}},
	}
	trials[0].Outcome.Metrics = map[string]float64{"acc, top": 1, "loss": 0.25}
	for i, trial := range trials {
		if trial.Outcome != nil {
			trials[i].Violated = of.Violated(trial.Outcome)
		}
	}
	return trials
}

func TestExportsEqualGoldenFiles(t *testing.T) {
	of := parse(t, everything)
	for name, write := range map[string]func(io.Writer, *task.Task, []strategy.Trial) error{
		"trials.csv": export.CSV, "study.log": export.OptunaJournal,
		"steps.csv": func(out io.Writer, _ *task.Task, trials []strategy.Trial) error { return export.Steps(out, trials) },
		"trials.json": func(out io.Writer, of *task.Task, trials []strategy.Trial) error {
			return export.JSON(out, of, trials, []strategy.StatusItem{{Key: "privacy", Label: "privacy", Value: 3, Text: "3 of 4 <releases> spent"}})
		},
	} {
		var got bytes.Buffer
		if err := write(&got, of, trialsOf(t, of)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s, %v: got\n%s", name, err, got.String())
		}
	}
}

// TestExportOfTaskWithoutTrials: a task without trials is a study without trials.
func TestExportOfTaskWithoutTrials(t *testing.T) {
	of := parse(t, everything)
	var table, document, journal strings.Builder
	if err := errors.Join(export.CSV(&table, of, nil), export.JSON(&document, of, nil, nil), export.OptunaJournal(&journal, of, nil)); err != nil {
		t.Fatal(err)
	}
	if strings.Count(table.String(), "\n") != 1 || !strings.HasSuffix(document.String(), `"trials":[]}`+"\n") || strings.Count(journal.String(), "\n") != 3 {
		t.Errorf("%s%s%s", &table, &document, &journal)
	}
}

// TestDocumentHasTheTask: the task of the document is a task file with its ID.
func TestDocumentHasTheTask(t *testing.T) {
	of := parse(t, everything)
	var out bytes.Buffer
	if err := export.JSON(&out, of, nil, nil); err != nil {
		t.Fatal(err)
	}
	var document struct {
		ID   string
		Task json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if again := parse(t, string(document.Task)); document.ID != of.ID().String() || again.ID() != of.ID() {
		t.Errorf("%s has the ID %s, not %s", out.String(), again.ID(), of.ID())
	}
}

// TestExtremesOfConstraints: JSON has no infinity, and a limit that is met is kept.
func TestExtremesOfConstraints(t *testing.T) {
	of := parse(t, "name: c\ngoal: minimize\nparameters: [{name: on, type: bool}]\nconstraints: [{name: a, high: -1e300}, {name: b, low: 0.1, high: 0.3}]\n")
	for _, c := range []struct {
		a, b float64
		want string
	}{
		{math.MaxFloat64, 0.3, `{"constraints:a":1.7976931348623157e+308,"constraints:b":0.0}`},
		{-math.MaxFloat64, 0.1, `{"constraints:a":-1.7976931248623157e+308,"constraints:b":0.0}`},
		{-1e300, math.Nextafter(0.3, 1), `{"constraints:a":0.0,"constraints:b":5.551115123125783e-17}`},
	} {
		trial := strategy.Trial{ID: 1, Design: design(t, of, `{"on": true}`), State: strategy.Done, Outcome: &strategy.Outcome{
			Constraints: map[string]task.Reading{"a": task.Number(c.a), "b": task.Number(c.b)},
		}}
		var out strings.Builder
		if err := export.OptunaJournal(&out, of, []strategy.Trial{trial}); err != nil || !strings.Contains(out.String(), `"system_attrs":`+c.want) {
			t.Errorf("%v: want %s, got %v\n%s", c, c.want, err, out.String())
		}
	}
}
