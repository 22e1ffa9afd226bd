package tsampling

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/dprelease"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// The names of the modes in a task file.
const (
	Concurrent = "concurrent"
	OneShot    = "one-shot"
)

// Contents of a share, the key message of a task file.
const (
	// WeightDraw is a draw from the posterior of the weights over the shared features (Dai, Low and
	// Jaillet 2020, equation 2).
	WeightDraw = "weight-draw"
	// Projection is the projection onto the shared features of a sample of the node's own surrogate.
	// It is the same with surrogate rff, whose samples are linear over features.
	Projection = "projection"
)

// Lifetimes of a draw. In concurrent mode a draw also needs its author to be present; in
// one-shot mode its author may have left long ago.
const (
	concurrentTTL = 24 * time.Hour
	oneShotTTL    = protocol.MaxTTL
)

// Sharing is the exchange of strategy fts, with the state of one agent. It publishes samples
// (draws) of the agent's posterior, as weights over the shared features. In concurrent mode it
// publishes a new draw after every ShareEvery observations. In one-shot mode it publishes a single
// draw after ShareAfter observations. It never waits for peers.
type Sharing struct {
	settings Settings
	features int
	atLeast  int // minimum number of observations for the first draw

	drawnAt int  // number of observations of the newest draw that was requested or computed
	drawing bool // a draw is being computed
	done    bool // only in one-shot mode: the share has been sent, perhaps in an earlier run
}

var (
	_ strategy.Exchange     = (*Sharing)(nil)
	_ strategy.Announceable = (*Sharing)(nil)
)

// NewSharing returns the exchange of one agent on a task of type fts.
func NewSharing(t *task.Task) *Sharing {
	s := &Sharing{settings: settingsOf(t), features: t.Surrogate.Features, atLeast: t.Strategy.InitialDesigns}
	if s.settings.Mode == OneShot {
		s.atLeast = s.settings.ShareAfter
	}
	return s
}

// newReleases returns the exchange of one agent on a task with a section privacy, which publishes
// draws with DP noise. entropy must be the Reader of crypto/rand outside of tests.
func newReleases(t *task.Task, entropy io.Reader) (*dprelease.Exchange, error) {
	return dprelease.New(t, entropy, NewSharing(t).private)
}

// private returns the definition of the DP releases for package dprelease.
func (s *Sharing) private(ledger.Terms) dprelease.Spec {
	return dprelease.Spec{
		Kind:   protocol.WeightsKind,
		TTL:    s.ttl(),
		Due:    s.dueAt,
		Decode: func(payload []byte) (any, error) { return protocol.DecodeWeights(payload, s.features) },
		Number: func(value any) int {
			weights, _ := value.(protocol.Weights)
			return weights.Release
		},
		Vector: func(ctx context.Context, view strategy.View, seed strategy.Seed) ([]float64, error) {
			weights, err := s.drawWeights(ctx, view, seed)
			draw, _ := weights.(protocol.Weights)
			return draw.Values, err
		},
		Payload: func(noisy []float64, release int) ([]byte, error) {
			return protocol.Weights{Observations: s.dueAt(release), Values: noisy, Release: release}.Encode()
		},
	}
}

// dueAt returns the number of observations after which a DP release, counted from 1, is due.
func (s *Sharing) dueAt(release int) int {
	if s.settings.Mode == OneShot {
		return s.atLeast
	}
	return s.atLeast + (release-1)*s.settings.ShareEvery
}

func (s *Sharing) ttl() time.Duration {
	if s.settings.Mode == OneShot {
		return oneShotTTL
	}
	return concurrentTTL
}

// Name implements strategy.Exchange.
func (*Sharing) Name() string { return protocol.WeightsKind }

// MayAnnounce implements strategy.Announceable: each design uses the draw of one peer at most.
func (*Sharing) MayAnnounce() bool { return true }

// Decode implements strategy.Exchange. The value is a protocol.Weights. Decode rejects DP releases.
func (s *Sharing) Decode(payload []byte) (any, error) {
	weights, err := protocol.DecodeWeights(payload, s.features)
	if err != nil {
		return nil, err
	}
	if weights.Release > 0 {
		return nil, fmt.Errorf("%w: weights of private release %d, the task plans none", protocol.ErrMalformed, weights.Release)
	}
	return weights, nil
}

// Step implements strategy.Exchange.
func (s *Sharing) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		s.done = true // the exchange writes a record only when it sends its one share
	case strategy.Start, strategy.TrialsEnded:
		return s.draw(view)
	case strategy.WorkDone:
		s.drawing = false
		weights, ok := in.Result.(protocol.Weights)
		if !ok {
			return nil // the agent has reported in.Err; the next attempt is after the next observation
		}
		// The computation may have used more observations than there were at its request;
		// the same draw must not be published twice.
		s.drawnAt = weights.Observations
		return append(s.publish(weights), s.draw(view)...)
	}
	return nil
}

// draw requests the computation of a new draw if one is due.
func (s *Sharing) draw(view strategy.View) []strategy.Output {
	fresh := view.Observations - s.drawnAt
	due := fresh > 0 && (s.drawnAt == 0 || fresh >= s.settings.ShareEvery)
	if s.settings.Mode == OneShot {
		due = fresh > 0 && !s.done
	}
	if s.drawing || !due || view.Observations < s.atLeast {
		return nil
	}
	s.drawing, s.drawnAt = true, view.Observations
	return []strategy.Output{strategy.Work{Name: "draw", Run: s.drawWeights}}
}

// drawWeights returns a sample of the agent's posterior, as weights over the shared features. With several
// objectives it is a sample of a random scalarisation.
func (s *Sharing) drawWeights(ctx context.Context, view strategy.View, seed strategy.Seed) (any, error) {
	if view.Posterior == nil {
		return nil, nil // the surrogate could not be fitted, so there is nothing to share yet
	}
	if view.Task.Several() {
		scalar, ok, err := alone.NewEngine(view.Task).Scalarised(ctx, view, seed.Stream("shared scalarisation", uint64(view.Observations)))
		if err != nil || !ok {
			return nil, err
		}
		view = scalar
	}
	draw := view.Posterior.WeightDraw
	if s.settings.Message == Projection {
		draw = view.Posterior.Weights
	}
	values, err := draw(ctx, seed.Stream("shared sample", uint64(view.Observations)))
	if err != nil {
		return nil, err
	}
	return protocol.Weights{Observations: view.Observations, Values: values}, nil
}

func (s *Sharing) publish(weights protocol.Weights) []strategy.Output {
	payload, err := weights.Encode()
	if err != nil {
		return nil // the draw exceeds the limits of the format; the next one may fit
	}
	published := strategy.Publish{Payload: payload, TTL: s.ttl()}
	if s.settings.Mode == OneShot {
		s.done = true
		return []strategy.Output{strategy.Record{Data: []byte("sent")}, published}
	}
	return []strategy.Output{published}
}
