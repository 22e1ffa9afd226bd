package consensus_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// network holds agents with journals that hear each other at once.
type network struct {
	t       testing.TB
	now     time.Time
	members []*member
}

type member struct {
	cfg       agent.Config
	agent     *agent.Agent
	journal   []agent.Record
	wake      time.Time
	answers   []strategy.Trial // not reported yet
	published int              // candidates published since the start
	asked     uint64
}

func newNetwork(t testing.TB, definition *task.Task, members int) *network {
	t.Helper()
	r := &network{t: t, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := range uint64(members) {
		key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(random.SeedOf(i).Derive("key", 0)))
		if err != nil {
			t.Fatal(err)
		}
		r.members = append(r.members, &member{cfg: agent.Config{Task: definition, Strategies: strategy.Set{consensus.Register()}, Key: key, Seed: random.SeedOf(i)}})
	}
	for _, g := range r.members {
		r.start(g)
	}
	return r
}

// start begins, or begins again as after a power cut.
func (r *network) start(g *member) {
	r.t.Helper()
	var err error
	if g.agent, err = agent.New(g.cfg, slices.Clone(g.journal), r.now); err != nil {
		r.t.Fatal(err)
	}
	g.answers, g.published = nil, 0
	r.settle()
}

// settle does all that the agents want done now.
func (r *network) settle() {
	r.t.Helper()
	for busy := true; busy; {
		busy = false
		for _, g := range r.members {
			if g.agent == nil {
				continue
			}
			ready := g.agent.Ready()
			g.journal, g.wake = append(g.journal, ready.Records...), ready.Wake
			for _, share := range ready.Publish {
				busy = true
				if share.Kind == protocol.CandidateKind {
					g.published++
				}
				for _, other := range r.members {
					if other != g && other.agent != nil {
						if _, err := other.agent.Receive(r.now, share, 0); err != nil {
							r.t.Fatal(err)
						}
					}
				}
			}
			for _, answer := range ready.Answers {
				if answer.Err != nil {
					r.t.Fatal(answer.Err)
				}
				g.answers = append(g.answers, answer.Trial)
			}
			for _, work := range ready.Work {
				busy = true
				g.agent.Done(r.now, work.ID, work.Run(context.Background()))
			}
		}
	}
}

func (r *network) pass(span time.Duration) {
	r.t.Helper()
	for end := r.now.Add(span); r.now.Before(end); {
		r.now = r.now.Add(time.Second)
		for _, g := range r.members {
			if g.agent != nil && !g.wake.IsZero() && !g.wake.After(r.now) {
				g.agent.Tick(r.now)
			}
		}
		r.settle()
	}
}

func (r *network) ask(g *member) {
	r.t.Helper()
	g.asked++
	g.agent.Ask(r.now, g.asked)
	r.settle()
}

func (r *network) tell(g *member, value float64) {
	r.t.Helper()
	trial := r.answered(g)
	g.answers = nil
	if err := g.agent.Tell(r.now, trial.ID, strategy.Outcome{Value: value}); err != nil {
		r.t.Fatal(err)
	}
	r.settle()
}

// answered fails unless the agent evaluates one trial.
func (r *network) answered(g *member) strategy.Trial {
	r.t.Helper()
	if len(g.answers) != 1 {
		r.t.Fatalf("%d trials to evaluate, want 1", len(g.answers))
	}
	return g.answers[0]
}

// sync has both fetch what they lack, as nodes that meet do.
func (r *network) sync(a, b *member) {
	r.t.Helper()
	for _, pair := range [][2]*member{{a, b}, {b, a}} {
		for _, item := range pair[1].agent.Since(r.now, pair[0].agent.Digest()) {
			share, err := protocol.Open(item.Envelope)
			if err != nil {
				r.t.Fatal(err)
			}
			if _, err := pair[0].agent.Receive(r.now, share, item.Age); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	r.settle()
}

// started brings two agents to where the first one waits for the second in round 1.
func started(t *testing.T) (r *network, waits, works *member) {
	t.Helper()
	r = newNetwork(t, parse(t, "type: consensus, rounds: 5, initial_designs: 2, round_timeout: 60"), 2)
	r.pass(30 * time.Second)
	for i := range 2 {
		for j, g := range r.members {
			r.ask(g)
			if i == 1 && j == 1 {
				break
			}
			r.tell(g, float64(i+j))
		}
	}
	waits, works = r.members[0], r.members[1]
	r.ask(waits)
	if len(waits.answers) > 0 {
		t.Fatalf("it does not wait: %s", waits.answers[0].Why)
	}
	return r, waits, works
}

func (r *network) agreed(g *member, round int) {
	r.t.Helper()
	if why := r.answered(g).Why; why.Source != "consensus" || why.PeerCount != 1 || why.Round != round {
		r.t.Errorf("%s, want an average with 1 peer in round %d", why, round)
	}
}

// An agent that stops while it waits takes up the round where it was.
func TestRestartInTheMiddleOfARound(t *testing.T) {
	r, waits, works := started(t)
	waits.agent = nil
	r.pass(5 * time.Second)
	r.start(waits)
	r.ask(waits)
	if waits.published != 1 || len(waits.answers) > 0 {
		t.Fatalf("after the start it publishes %d times and has %d trials: it does not wait for peers whose candidates it has not received", waits.published, len(waits.answers))
	}
	r.sync(waits, works)
	r.pass(15 * time.Second)
	if len(waits.answers) > 0 {
		t.Fatalf("it does not wait: %s", waits.answers[0].Why)
	}
	r.tell(works, 1)
	r.ask(works)
	r.agreed(waits, 1)
	r.agreed(works, 1)
	for _, axis := range []string{"x", "y"} { // in round 1 all weigh the same
		if a, b := waits.answers[0].Design.Float(axis), works.answers[0].Design.Float(axis); a-b > 1e-6 || b-a > 1e-6 {
			t.Errorf("%s is %g and %g", axis, a, b)
		}
	}
}

// An agent that stops while it evaluates says nothing about the next round before
// it knows the outcome, and then goes on with the others.
func TestRestartInTheMiddleOfAnEvaluation(t *testing.T) {
	r, stops, other := started(t)
	r.tell(other, 1)
	r.ask(other)
	stops.agent = nil
	r.pass(time.Second)
	r.start(stops)
	r.sync(stops, other)
	r.ask(stops)
	if trial := r.answered(stops); trial.ID != 3 || trial.Attempts != 2 || stops.published != 0 {
		t.Fatalf("%+v is offered, after %d candidates", trial, stops.published)
	}
	r.pass(2 * time.Minute) // more than a deadline
	r.tell(stops, 0.5)
	r.ask(stops)
	if stops.published != 1 || len(stops.answers) > 0 {
		t.Fatalf("it speaks %d times and has %d trials, want it to wait for the other", stops.published, len(stops.answers))
	}
	r.tell(other, 0.25)
	r.ask(other)
	r.agreed(stops, 2)
	r.agreed(other, 2)
}

// Alone after a start it listens for a moment only.
func TestRestartAlone(t *testing.T) {
	r := newNetwork(t, parse(t, "type: consensus, rounds: 5, initial_designs: 1"), 1)
	alone := r.members[0]
	r.ask(alone)
	r.tell(alone, 1)
	r.start(alone)
	r.ask(alone)
	if len(alone.answers) > 0 {
		t.Fatal("it does not listen first")
	}
	r.pass(11 * time.Second)
	if why := r.answered(alone).Why; why.Source != "ei" {
		t.Errorf("alone it chooses by %s", why)
	}
}
