package agent

import (
	"fmt"
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

// Whatever happens to an agent, every beginning of its journal starts an agent,
// and the whole of it restores the trials, the best of them and the draws that
// are used up. The driver checks order and stamps on the way.
func TestAnyHistoryReplays(t *testing.T) {
	cupTask, coinTask := newTask(t, "cup", "type: fts, initial_designs: 1, schedule: constant, own_probability: 0.3"), newTask(t, "coin", concurrent)
	rapid.Check(t, func(rt *rapid.T) {
		spec := cupTask
		if rapid.IntRange(0, 4).Draw(rt, "task") == 0 {
			spec = coinTask
		}
		spec.Stop = rapid.SampledFrom([]*task.Stopping{nil,
			{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 2},
			{Type: task.MedianRule, GracePeriod: 1, StartupTrials: 1, Patience: 9}}).Draw(rt, "rule")
		cfg := configOf(t, spec, 1)
		cfg.Lease = 30 * time.Second
		d, peer := newDriver(t, cfg), newDriver(t, configOf(t, spec, 2))
		d.hold = rapid.Bool().Draw(rt, "hold")
		var latest [][]byte // the journal of the latest run, for prefixes
		steps := rapid.IntRange(1, 25).Draw(rt, "steps")
		for range steps {
			randomStep(rt, d, peer)
			d.carryOut()
			if d.hold && rapid.IntRange(0, 2).Draw(rt, "finish") == 0 {
				d.finish()
			}
		}
		latest = d.journal
		if used := usedDraws(d.agent.Trials()); len(used) != len(slices.Compact(used)) {
			rt.Fatalf("a draw was used twice: %v", used)
		}
		replays(rt, d, latest)
	})
}

// randomStep does something that a user, a peer, the clock or a crash does.
func randomStep(rt *rapid.T, d, peer *driver) {
	id := rapid.Uint64Range(0, uint64(len(d.agent.Trials()))+1).Draw(rt, "id")
	value := float64(rapid.IntRange(-3, 3).Draw(rt, "value"))
	switch rapid.SampledFrom([]string{
		"ask", "ask", "ask", "tell", "tell", "tell", "fail", "return", "cancel", "import", "pass", "stop", "crash", "peer", "sync", "claim", "heartbeat", "remember",
		"report", "report", "report", "end stopped",
	}).Draw(rt, "step") {
	case "ask":
		d.requests++
		d.agent.Ask(d.now, d.requests)
	case "claim":
		d.requests++
		client := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "client")
		if err := d.agent.AskFor(d.now, d.requests, Claim{Client: client, Lease: 20 * time.Second}); err != nil {
			rt.Fatal(err)
		}
	case "heartbeat":
		_, _ = d.agent.Heartbeat(d.now, id, "a")
	case "remember":
		d.requests++
		d.agent.Remember(Once{Key: fmt.Sprint(d.requests)}, Reply{Trials: []uint64{id}})
	case "report":
		steps := make([]curves.Step, rapid.IntRange(1, 70).Draw(rt, "values"))
		first := rapid.Uint64Range(1, 200).Draw(rt, "first")
		for i := range steps {
			steps[i] = curves.Step{Step: first + uint64(i), Value: value}
		}
		if rapid.Bool().Draw(rt, "by a client") {
			_, _ = d.agent.ReportBy(d.now, id, "a", steps)
		} else {
			_, _ = d.agent.Report(d.now, id, steps)
		}
	case "end stopped":
		_ = d.agent.EndStopped(d.now, id, "enough")
	case "tell":
		_ = d.agent.Tell(d.now, id, strategy.Outcome{Value: value}) // an error is one of the things that happen
	case "fail":
		_ = d.agent.Fail(d.now, id, "broken")
	case "return":
		_ = d.agent.Requeue(d.now, id)
	case "cancel":
		d.agent.Cancel(id)
	case "import":
		space := d.cfg.Task.Space
		design := space.Decode(make([]float64, space.Dim()))
		if _, err := d.agent.Import(d.now, []Past{{Design: design, Outcome: strategy.Outcome{Value: value}}}); err != nil {
			rt.Fatal(err)
		}
	case "pass":
		d.pass(time.Duration(rapid.IntRange(0, 40).Draw(rt, "seconds")) * time.Second)
	case "stop":
		d.agent.Stop(d.now)
		d.carryOut()
		d.start()
	case "crash":
		if rapid.Bool().Draw(rt, "compact") {
			d.journal = compact(d.t, d.journal)
		}
		d.start()
	case "peer":
		peer.run(1, func(task.Design) float64 { return value })
		for _, share := range peer.take() {
			d.receive(share)
		}
	case "sync":
		reconcile(d.t, d, peer)
	}
}

func usedDraws(trials []strategy.Trial) []string {
	var used []string
	for _, trial := range trials {
		if trial.Why.Stamp != nil {
			used = append(used, fmt.Sprint(trial.Why.Peer, trial.Why.Stamp))
		}
	}
	slices.Sort(used)
	return used
}

func replays(rt *rapid.T, d *driver, journal [][]byte) {
	records := decodeAll(d.t, journal)
	for n := range records {
		if _, err := New(d.cfg, records[:n], d.now); err != nil {
			rt.Fatalf("the first %d of %d records: %v", n, len(records), err)
		}
	}
	for _, form := range [][][]byte{journal, compact(d.t, journal)} {
		h, err := ReadHistory(decodeAll(d.t, form), all.Strategies())
		if err != nil {
			rt.Fatal(err)
		}
		// Trials that await another offer are running in the journal.
		trials := slices.Clone(d.agent.Trials())
		for i, trial := range trials {
			if trial.State == strategy.Waiting && h.Trials[i].State == strategy.Running {
				trials[i].State = strategy.Running
			}
		}
		if got, want := show(h.Trials), show(trials); got != want {
			rt.Fatalf("replay gives\n%s\nwant\n%s", got, want)
		}
		if best := d.agent.Best(); (best == nil) != (h.Best == nil) || best != nil && best.ID != h.Best.ID {
			rt.Fatalf("replay gives the best %+v, want %+v", h.Best, best)
		}
		if !slices.Equal(usedDraws(h.Trials), usedDraws(trials)) {
			rt.Fatal("replay forgets which draws are used up")
		}
		again, err := New(d.cfg, decodeAll(d.t, form), d.now)
		if err != nil {
			rt.Fatal(err)
		}
		if again.Epoch() != d.agent.Epoch()+1 {
			rt.Fatalf("epoch %d follows %d", again.Epoch(), d.agent.Epoch())
		}
		for _, held := range again.Digest() {
			if held.Author == again.self && held.Epoch > d.agent.Epoch()+1 {
				rt.Fatalf("holds a share of its own future: %v", held)
			}
		}
	}
}

// No stamp is used twice over restarts at any point, with what was published
// before a crash counted.
func TestStampsAreNeverReused(t *testing.T) {
	spec := newTask(t, "cup", "type: fts, initial_designs: 1")
	rapid.Check(t, func(rt *rapid.T) {
		d := newDriver(t, configOf(t, spec, 1))
		seen := map[protocol.Stamp]bool{}
		note := func() {
			for _, share := range d.take() {
				if seen[share.Stamp] {
					rt.Fatalf("stamp %v twice", share.Stamp)
				}
				seen[share.Stamp] = true
			}
		}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch rapid.IntRange(0, 2).Draw(rt, "step") {
			case 0:
				d.run(1, bowl)
			case 1:
				d.pass(15 * time.Second)
			case 2:
				note()
				d.start()
			}
			note()
		}
	})
}
