package attack

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	exactsum "github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	members = 3 // members of a federation; the first is attacked, and the second observes
	lives   = 5 // starts of a node that starts anew or changes its task's name

	delay = 50 * time.Millisecond
	// The first member is slightly faster, so that its last share arrives before the simulation
	// ends.
	victimsDuration = 9 * time.Second
	othersDuration  = 10 * time.Second
)

// played is the result of one simulated federation.
type played struct {
	seen   *Seen
	truths map[int]Truth // by the number of observations
}

// play simulates one federation of a scene.
func play(ctx context.Context, t *task.Task, scene Scene, counts []int, noise float64, seed random.Seed) (*played, error) {
	if settings, ok := exactsum.SettingsOf(t); ok {
		return playExactSums(ctx, t, settings, scene, counts, noise, seed)
	}
	p := &played{seen: &Seen{Task: t, Observations: slices.Max(counts)}, truths: map[int]Truth{}}
	ids, err := sim.Roster(seed, members)
	if err != nil {
		return nil, err
	}
	if p.seen.Deviation, err = promised(t); err != nil {
		return nil, err
	}
	var summed *sums
	if t.Privacy != nil && t.Privacy.Aggregate != nil {
		if summed, err = newSums(t, seed.Stream("noise of sums", 0)); err != nil {
			return nil, err
		}
		t = summed.task
		p.seen.Task = t
	}
	disclosure := Disclosure{Task: t}
	s := sim.Scenario{Task: t, Seed: seed, Network: sim.Network{Delay: delay}, Workers: 1}
	objectives, err := newObjectives(t, members, seed.Derive("objectives", 0))
	if err != nil {
		return nil, err
	}
	planter := &planter{task: t, rng: seed.Stream("planted", 0)}
	for i := range members {
		m := objectives.member(i, noise)
		m.Evaluations, m.Duration = p.seen.Observations, othersDuration
		switch {
		case i == 0:
			m.Duration = victimsDuration
		case scene == Steer:
			m.Forge = planter.forgerOf(i)
		}
		if i == 1 {
			m.Wrap = func(e strategy.Exchange) strategy.Exchange {
				return &observer{Exchange: e, task: t, to: ids[0], disclosure: &disclosure}
			}
		}
		s.Members = append(s.Members, m)
	}
	var last strategy.View
	s.Watch = func(member int, view strategy.View) {
		if member != 0 {
			return
		}
		last = view
		if summed != nil {
			summed.tell(&disclosure, view)
		}
		if slices.Contains(counts, view.Observations) {
			p.truths[view.Observations] = truthOf(ctx, t, view, seed)
		}
	}
	if _, err := sim.Run(ctx, s); err != nil {
		return nil, err
	}
	p.seen.Planted = planter.planted
	switch scene {
	case Restarts, Renamed:
		if p.seen.Disclosures, err = repeatOutcomes(ctx, t, scene == Renamed, last.Trials, seed); err != nil {
			return nil, err
		}
	default:
		p.seen.Disclosures = []Disclosure{disclosure}
	}
	return p, nil
}

func truthOf(ctx context.Context, t *task.Task, view strategy.View, seed random.Seed) Truth {
	observed := strategy.Observed(t, view.Trials, task.Objective)
	truth := Truth{X: observed.X, Y: observed.Y, Noise: 1}
	if view.Posterior != nil {
		truth.Noise = view.Posterior.Hyperparameters().Noise
	}
	if best := search.New(t).Optimum(ctx, view, seed.Derive("believed", 0)); !best.IsZero() {
		truth.EstimatedOptimum = t.Space.Encode(best)
	}
	if t.Several() {
		for _, trial := range strategy.SortedFront(t, view.Trials) {
			truth.Front = append(truth.Front, t.Space.Encode(trial.Design))
		}
		if len(truth.Front) > 0 {
			truth.EstimatedOptimum = truth.Front[0]
		}
	}
	return truth
}

// observer wraps an exchange, and records the shares of one author that the exchange receives.
type observer struct {
	strategy.Exchange
	task       *task.Task
	to         peer.ID
	disclosure *Disclosure
}

// Step implements strategy.Exchange.
func (l *observer) Step(view strategy.View, in strategy.Input) []strategy.Output {
	if r, ok := in.(strategy.Received); ok && r.Share.Author == l.to {
		l.disclosure.add(l.Name(), r.Share.Payload)
	}
	return l.Exchange.Step(view, in)
}

// add stores a share, unless its kind has no attack.
func (t *Disclosure) add(kind string, payload []byte) {
	value, observations, err := decode(t.Task, kind, payload)
	if err != nil || value == nil {
		return // the exchange refuses payloads that cannot be decoded
	}
	t.Shares = append(t.Shares, Share{Kind: kind, Observations: observations, Payload: payload, Value: value})
}

// repeatOutcomes restarts a node with these trials several times, without peers. Each time it has
// no journal and makes other random decisions; if renamed is true, its task has another name. The
// node adds one trial after the other, so that each share contains as many observations as before.
func repeatOutcomes(ctx context.Context, t *task.Task, renamed bool, trials []strategy.Trial, seed random.Seed) ([]Disclosure, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(seed.Derive("key of many lives", 0)))
	if err != nil {
		return nil, err
	}
	var all []Disclosure
	for life := range lives {
		own := *t
		if renamed {
			own.Name = fmt.Sprintf("%s %d", t.Name, life+1)
		}
		disclosure := Disclosure{Task: &own}
		if err := disclosure.live(ctx, key, trials, seed.Derive("life", uint64(life))); err != nil {
			return nil, err
		}
		all = append(all, disclosure)
	}
	return all, nil
}

// live adds the trials to a new node one by one, and records what it shares.
func (t *Disclosure) live(ctx context.Context, key crypto.PrivKey, trials []strategy.Trial, seed random.Seed) error {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	a, err := agent.New(agent.Config{Task: t.Task, Strategies: all.Strategies(), Key: key, Seed: seed, Entropy: rand.NewChaCha8(seed)}, nil, now)
	if err != nil {
		return err
	}
	carryOut := func() error {
		for {
			ready := a.Ready()
			for _, share := range ready.Publish {
				if share.Kind != presence.Kind {
					t.add(share.Kind, share.Payload)
				}
			}
			for _, e := range ready.Events {
				if e.Type == agent.Warning && e.Trial == nil {
					return fmt.Errorf("the agent warns: %s", e.Message)
				}
			}
			if len(ready.Work) == 0 {
				return ctx.Err()
			}
			for _, work := range ready.Work {
				a.Done(now, work.ID, work.Run(ctx))
			}
		}
	}
	if err := carryOut(); err != nil {
		return err
	}
	for i := range trials {
		if trials[i].State != strategy.Done {
			continue
		}
		// Importing the same trial again adds nothing, so all trials so far are passed each time.
		var past []agent.Past
		for _, trial := range trials[:i+1] {
			if trial.State == strategy.Done {
				past = append(past, agent.Past{Design: trial.Design, Outcome: *trial.Outcome})
			}
		}
		if _, err := a.Import(now, past); err != nil {
			return err
		}
		if err := carryOut(); err != nil {
			return err
		}
	}
	return nil
}

// sameShares reports whether two disclosures have the same shares, byte for byte.
func sameShares(a, b Disclosure) bool {
	return slices.EqualFunc(a.Shares, b.Shares, func(x, y Share) bool { return bytes.Equal(x.Payload, y.Payload) })
}

// planter forges the shares of all members except the attacked one. The forged shares make one
// location look best, and after a while the next one.
type planter struct {
	task    *task.Task
	rng     *rand.Rand
	planted [][]float64
}

// sharesPerLocation is the number of a forger's shares for which each planted location stays.
// Meanwhile the attacked node chooses about as many designs.
const sharesPerLocation = 2

// forgerOf returns the function that replaces the shares of a member.
func (p *planter) forgerOf(int) func(kind string, payload []byte) []byte {
	sent := 0
	return func(kind string, payload []byte) []byte {
		at := sent / sharesPerLocation
		sent++
		for len(p.planted) <= at {
			x := make([]float64, p.task.Space.Dim())
			for i := range x {
				x[i] = 0.1 + 0.8*p.rng.Float64()
			}
			p.task.Space.Snap(x)
			p.planted = append(p.planted, x)
		}
		forged, err := plant(p.task, kind, payload, p.planted[at])
		if err != nil {
			return payload
		}
		return forged
	}
}
