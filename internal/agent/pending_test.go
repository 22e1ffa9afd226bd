package agent

import (
	"bytes"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/strategy"
)

// What an agent publishes rests on outcomes: with trials that run it is the same, byte for
// byte, as without.
func TestPendingTrialsChangeNoShare(t *testing.T) {
	for _, keys := range []string{
		"type: peer-prior, initial_designs: 2", "type: peer-prior, share: exact, initial_designs: 2", "type: fts, initial_designs: 2",
		"type: density, initial_designs: 2", "type: density, components: 3, initial_designs: 2", "type: constrained-gp, initial_designs: 2",
	} {
		publish := func(running int) (payloads [][]byte) {
			spec := newTask(t, "bowl", keys)
			d := newDriver(t, configOf(t, spec, 1))
			add := func(at float64) {
				design := spec.Space.Decode([]float64{at, 1, 0, 0})
				if _, err := d.agent.Import(d.now, []Past{{Design: design, Outcome: strategy.Outcome{Value: bowl(design)}}}); err != nil {
					t.Fatal(err)
				}
				d.carryOut()
			}
			for _, at := range []float64{0.1, 0.3, 0.5, 0.9} {
				add(at)
			}
			for range running {
				d.ask()
			}
			for _, at := range []float64{0.2, 0.7, 0.8} {
				add(at)
			}
			for _, share := range d.take() {
				if share.Kind != presence.Kind {
					payloads = append(payloads, share.Payload)
				}
			}
			return payloads
		}
		alone, busy := publish(0), publish(3)
		if len(alone) == 0 || len(alone) != len(busy) {
			t.Fatalf("%s: %d shares, with running trials %d", keys, len(alone), len(busy))
		}
		for i := range alone {
			if !bytes.Equal(alone[i], busy[i]) {
				t.Errorf("%s: share %d is %x, with running trials %x", keys, i+1, alone[i], busy[i])
			}
		}
	}
}

// Several designs that are asked for at once are those that are asked for one after the other:
// each choice knows those before it.
func TestAskedForAtOnce(t *testing.T) {
	ask := func(atOnce bool) (keys []string) {
		d := newDriver(t, configOf(t, newTask(t, "bowl", "type: alone, initial_designs: 2"), 1))
		d.run(6, bowl)
		for range 4 {
			d.requests++
			d.agent.Ask(d.now, d.requests)
			if !atOnce {
				d.carryOut()
			}
		}
		d.carryOut()
		for _, answer := range d.answers[len(d.answers)-4:] {
			if answer.Err != nil {
				t.Fatal(answer.Err)
			}
			keys = append(keys, answer.Trial.Design.Key())
		}
		return keys
	}
	together, apart := ask(true), ask(false)
	seen := map[string]bool{}
	for i, key := range together {
		if key != apart[i] || seen[key] {
			t.Errorf("design %d: %s, one after the other %s, seen before: %v", i+1, key, apart[i], seen[key])
		}
		seen[key] = true
	}
}
