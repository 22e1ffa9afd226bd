package securesum

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

var sizes = []struct{ n, members, threshold, dimension int }{{20, 20, 9, 4000}, {100, 7, 3, 4000}}

func BenchmarkDeal(b *testing.B) {
	for _, s := range sizes {
		b.Run(fmt.Sprintf("%d numbers among %d, threshold %d", s.dimension, s.members, s.threshold), func(b *testing.B) {
			vector := make([]element, s.dimension)
			for b.Loop() {
				if _, err := deal(vector, s.threshold, s.members, rand.Reader); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSplit is BenchmarkDeal with the masks and the header, and BenchmarkAccept what a
// member does with each part.
func BenchmarkSplit(b *testing.B) {
	for _, s := range sizes {
		e := benchmarkExchange(b, s.n, committeeOf(b, s.members, s.threshold), s.dimension)
		b.Run(fmt.Sprintf("%d numbers among %d, threshold %d", s.dimension, s.members, s.threshold), func(b *testing.B) {
			for b.Loop() {
				if _, err := e.split(1, make([]element, s.dimension)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAccept(b *testing.B) {
	for _, s := range sizes {
		e := benchmarkExchange(b, s.n, committeeOf(b, s.members, s.threshold), s.dimension)
		deals, err := e.split(1, make([]element, s.dimension))
		if err != nil {
			b.Fatal(err)
		}
		r := newRound(e, 1)
		r.rank = 0 // whoever that is
		b.Run(fmt.Sprintf("%d numbers among %d, threshold %d", s.dimension, s.members, s.threshold), func(b *testing.B) {
			for b.Loop() {
				r.held.remove(e.self)
				if r.accept(e.self, deals.header, deals.parts[0]); !r.held.has(e.self) {
					b.Fatal("the part does not fit")
				}
			}
		})
	}
}

func benchmarkExchange(b *testing.B, n int, c Committee, dimension int) *Exchange {
	cfg := configOf(b, n, c)
	cfg.Dimension, cfg.Random = dimension, rand.Reader
	keys := withKeys(b, &cfg, n)
	cfg.Self = cfg.Roster[0]
	cfg.Sign = Signer(keys[cfg.Self])
	e, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func BenchmarkReconstruct(b *testing.B) {
	for _, s := range sizes {
		shares, err := deal(make([]element, s.dimension), s.threshold, s.members, rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		quorum := committeeOf(b, s.members, s.threshold).Quorum
		b.Run(fmt.Sprintf("%d numbers from %d, threshold %d", s.dimension, quorum, s.threshold), func(b *testing.B) {
			answers := answersOf(shares, upTo(quorum))
			for b.Loop() {
				if _, err := reconstruct(answers, s.threshold); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCorrect has as many answers as a committee gives, and as many of them wrong as
// are outvoted.
func BenchmarkCorrect(b *testing.B) {
	for _, s := range sizes {
		shares, err := deal(make([]element, s.dimension), s.threshold, s.members, rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		wrong := (s.members - s.threshold - 1) / 2
		for _, share := range shares[:wrong] {
			share[s.dimension-1] = add(share[s.dimension-1], 1)
		}
		b.Run(fmt.Sprintf("%d numbers from %d, threshold %d, %d wrong", s.dimension, s.members, s.threshold, wrong), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := correct(answersOf(shares, upTo(s.members)), s.threshold, rand.Reader); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRound plays whole rounds, with Ed25519 signatures and all messages
// encoded and decoded, all agents on one processor; the figures are per agent.
func BenchmarkRound(b *testing.B) {
	for _, s := range sizes {
		b.Run(fmt.Sprintf("%d agents, committee of %d, threshold %d, %d numbers", s.n, s.members, s.threshold, s.dimension), func(b *testing.B) {
			benchmarkRound(b, s.n, committeeOf(b, s.members, s.threshold), s.dimension)
		})
	}
}

func benchmarkRound(b *testing.B, n int, c Committee, dimension int) {
	cfg := configOf(b, n, c)
	cfg.Dimension, cfg.Rounds, cfg.Random, cfg.Verify = dimension, MaxRounds, rand.Reader, Verify
	keys := withKeys(b, &cfg, n)
	w := newWorld(b, cfg, 1)
	for i, a := range w.agents {
		a.exchange.cfg.Sign = Signer(keys[cfg.Roster[i]])
	}
	messages, dealt, member, other := 0, 0, 0, 0
	rounds := 0
	w.sent = func(_, _ int, data []byte) {
		messages++
		if data[1] == kindShare {
			dealt += len(data)
		}
	}
	for b.Loop() {
		before := make([]int, n)
		for i, a := range w.agents {
			before[i] = a.bytesOut
			out, _ := a.exchange.Gather()
			w.carry(i, out)
		}
		w.pass(300 * time.Millisecond)
		for i, a := range w.agents {
			if _, met := a.exchange.Gather(); !met {
				b.Fatal("the committee is not there")
			}
			if out, err := a.exchange.Contribute(uint64(rounds+1), make([]int64, dimension)); err != nil {
				b.Fatal(err)
			} else {
				w.carry(i, out)
			}
		}
		w.pass(1700 * time.Millisecond) // a round begins well after a tick, and ends before the next
		rounds++
		serving := w.elected(uint64(rounds))
		for i, a := range w.agents {
			if o := a.outcomes[len(a.outcomes)-1]; o.Err != nil || o.Round != uint64(rounds) {
				b.Fatalf("round %d: %d, %v", rounds, o.Round, o.Err)
			}
			if slices.Contains(serving, i) {
				member += a.bytesOut - before[i]
			} else {
				other += a.bytesOut - before[i]
			}
		}
	}
	perAgent := float64(rounds * n)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/perAgent, "µs/agent")
	b.ReportMetric(float64(messages)/perAgent, "messages/agent")
	b.ReportMetric(float64(dealt)/perAgent, "dealt-B/agent")
	b.ReportMetric(float64(member)/float64(rounds*c.Members), "B/member")
	if n > c.Members {
		b.ReportMetric(float64(other)/float64(rounds*(n-c.Members)), "B/other")
	}
}

// withKeys gives a configuration a roster of agents with Ed25519 keys.
func withKeys(t testing.TB, cfg *Config, n int) map[peer.ID]crypto.PrivKey {
	t.Helper()
	keys := map[peer.ID]crypto.PrivKey{}
	cfg.Roster, cfg.Verify = nil, Verify
	for range n {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		keys[id], cfg.Roster = key, append(cfg.Roster, id)
	}
	slices.Sort(cfg.Roster)
	return keys
}
