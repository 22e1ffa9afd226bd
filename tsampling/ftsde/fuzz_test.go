package ftsde

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// Whatever records a journal has after those of two contributions, one to a line: none
// of them makes a contribution undone, no more are made than are left, and what the
// node knows of its state can be read off the journal alone.
func FuzzReplay(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "b", "b{}", `b{"release":1,"name":"0000000000000001"}`, `b{"release":3,"name":"0000000000000003"}`, `b{"release":-7}`, `b{"release":2,"name":"0000000000000002"}` + "\n" + `b{"refused":"x"}` + "\n" + `b{"release":2,"refused":""}`,
		`a{"round":1,"contributors":4,"observations":2,"weights":[[1,2]],"noise":[0.5]}`,
		`a{"round":3,"weights":[[1,2]],"noise":[0]}` + "\n" + `a{"round":2,"weights":[[1e308,-1e308]],"noise":[-1]}`,
		`a{"round":1,"weights":[[1]],"noise":[1]}` + "\n" + `a{"weights":null}`, `a{"weights":[[1,2]],"noise":[1]}`, `a{"round":99,"weights":[[1,2]],"noise":[1]}`, `a{"round":2,"weights":[[1,2]],"noise":[1]}` + "\n" + `a{"round":2,"weights":[[1,2]],"noise":[1]}`, "a", "s", "z{\"release\":9}",
		"s\x01\x01\x00\x00\x00\x00\x00\x00\x00\x02", "s\x01\x02\xff\x00\x00\x00\x00\x00\x00\x02", "s\x01\x02\x00\x00\x00\x00\x00\x00\x00\x03",
		"s\x01\x0100000000", "s\x01\x01\x00\x00\x00\x000000", "s\x01\x03\x00\x00\x00\x00\x00\x00\x00\x02" + strings.Repeat("x", 97),
	} {
		f.Add([]byte(seed))
	}
	definition := newTask(f, setting{strategy: "share_every: 1", privacy: "releases: 3"})
	chooser := newStrategy(f, definition)
	key := fbotest.RosterKeys(f, 4)[0]
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := NewExchange(definition, key, entropy(1))
		if err != nil {
			t.Fatal(err)
		}
		records := append([][]byte{[]byte(`b{"release":1,"name":"0000000000000001"}`), []byte(`b{"release":2,"name":"0000000000000002"}`)}, bytes.Split(data, []byte("\n"))...)
		n := node{t: t, exchange: e, view: strategy.View{Task: definition, Self: fbotest.PeerID(t, key)}}
		var debits [][]byte
		for i, record := range records {
			before := e.ledger.State()
			n.step(strategy.Replayed{Data: record})
			if after := e.ledger.State(); after.Released < before.Released || before.Refused != "" && after.Refused == "" {
				t.Fatalf("record %q turned %+v into %+v", record, before, after)
			}
			if i == 1 && e.ledger.State().Released != 2 {
				t.Fatal("two contributions are not counted")
			}
			if debit := Debit(record); debit != nil {
				debits = append(debits, debit)
			}
		}
		state := e.ledger.State()
		if read := ledger.ReadState(definition, debits); read != state {
			t.Fatalf("the journal says %+v, the ledger %+v", read, state)
		}
		n.present(definition.Privacy.Aggregate.Roster...)
		n.step(strategy.Start{})
		n.caughtUp(3)
		n.observe(3)
		n.finish()
		made := e.ledger.State().Released - state.Released
		if made > max(0, 3-state.Released) || made > 0 && state.Refused != "" || len(n.shares) > made {
			t.Fatalf("from %+v %d contributions were made, %d told", state, made, len(n.shares))
		}
		last := 0
		for _, s := range n.result.Sums {
			if s.Round <= last || s.Round > 3 || !(s.Noise[0] > 0) || len(s.Weights[0]) != 2 {
				t.Fatalf("sums %+v", n.result.Sums)
			}
			last = s.Round
		}
		if len(n.result.Sums) > 0 {
			view := trained(t, definition, n.view.Self, 2, wave)
			suggest(t, chooser, heard(view, n.result.Sums...), 3, random.SeedOf(1))
		}
	})
}
