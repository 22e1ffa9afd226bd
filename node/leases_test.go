package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

func askFor(t *testing.T, s *node.Session, claim agent.Claim) strategy.Trial {
	t.Helper()
	trial, err := s.Clients().Ask(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

func TestClientsHoldTrialsOverRestarts(t *testing.T) {
	t.Parallel()
	n, ctx := loopback(t), t.Context()
	s := join(t, n, bowl, 1)
	worker := agent.Claim{Client: "worker", Lease: time.Hour}
	claimed, own := askFor(t, s, worker), ask(t, s)
	once := agent.Once{Key: "1", Digest: "tell"}
	sentTo := askFor(t, s, worker)
	for range 2 {
		if err := s.Clients().Tell(ctx, once, sentTo.ID, strategy.Outcome{Value: 4}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Clients().Tell(ctx, agent.Once{Key: "1", Digest: "another"}, claimed.ID, strategy.Outcome{Value: 4}); !errors.Is(err, agent.ErrKeyReused) {
		t.Errorf("the key for another request: %v", err)
	}
	past := []agent.Past{{Design: sentTo.Design, Outcome: strategy.Outcome{Value: 2}}}
	if added, err := s.Clients().Import(ctx, agent.Once{Key: "2"}, past); added != 1 || err != nil {
		t.Errorf("imported %d, %v", added, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = join(t, n, bowl, 1)
	held, err := s.Clients().HeldBy(ctx, worker.Client)
	if err != nil || len(held) != 1 || held[0].ID != claimed.ID {
		t.Fatalf("held after a restart: %+v, %v", held, err)
	}
	if leases, err := s.Clients().Leases(ctx); err != nil || len(leases) != 1 || time.Until(leases[claimed.ID]) < time.Minute {
		t.Errorf("leases %v, %v", leases, err)
	}
	if added, err := s.Clients().Import(ctx, agent.Once{Key: "2"}, past); added != 1 || err != nil {
		t.Errorf("the same import again: %d, %v", added, err)
	}
	if again := ask(t, s); again.ID != own.ID {
		t.Errorf("the trial of the process is not offered again: %+v", again)
	}
	if _, err := s.Clients().Heartbeat(ctx, claimed.ID, "another"); !errors.Is(err, agent.ErrNotHeld) {
		t.Errorf("another client's heartbeat: %v", err)
	}
	if err := s.Clients().Requeue(ctx, agent.Once{}, claimed.ID, worker.Client); err != nil {
		t.Fatal(err)
	}
	if again := askFor(t, s, worker); again.ID != claimed.ID {
		t.Errorf("after the return: %+v", again)
	}
	if err := s.Clients().Fail(ctx, agent.Once{}, claimed.ID, worker.Client, agent.Ending{Reason: "no luck"}); err != nil {
		t.Error(err)
	}
}

// A client that gives up waiting finds what it was given when it comes again.
func TestAClientThatGivesUpKeepsItsTrial(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	worker := agent.Claim{Client: "worker", Lease: time.Hour}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		trial, err := s.Clients().Ask(ctx, worker)
		held, failed := s.Clients().HeldBy(t.Context(), worker.Client)
		if failed != nil {
			t.Fatal(failed)
		}
		if err == nil && (len(held) != 1 || held[0].ID != trial.ID) {
			t.Fatalf("got %+v and holds %+v", trial, held)
		}
		for _, trial := range held {
			if err := s.Tell(t.Context(), trial.ID, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, trial := range trialsOf(t, s) {
		if trial.State != strategy.Done {
			t.Errorf("left over: %+v", trial)
		}
	}
}

func TestRecommend(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	if r, err := s.Recommend(t.Context()); err != nil || !r.Design.IsZero() {
		t.Errorf("before any outcome: %v, %v", r, err)
	}
	for range 5 {
		trial := ask(t, s)
		if err := s.Tell(t.Context(), trial.ID, trial.Design.Float("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Recommend(t.Context()); err != nil || s.Task().Space.Check(r.Design) != nil || r.Predicted == nil || r.Noisy {
		t.Errorf("after five: %+v, %v", r, err)
	}
}
