// Package all lists the strategies of this project and the extensions of the surrogate.
package all

import (
	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/consensus/averageobjective"
	"github.com/fbo-node/fbo/consensus/constrainedgp"
	"github.com/fbo-node/fbo/consensus/density"
	"github.com/fbo-node/fbo/consensus/fair"
	"github.com/fbo-node/fbo/internal/exchange/hyper"
	"github.com/fbo-node/fbo/internal/exchange/sharedlatent"
	"github.com/fbo-node/fbo/internal/exchange/sketch"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/tsampling"
	"github.com/fbo-node/fbo/tsampling/ftsde"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// Strategies returns the registrations of all strategies, with all extensions of the surrogate. The
// first one, peerprior, is the default of a task file without constraints. The default of a task
// file with constraints is the strategy that sets ForConstraints. A program with strategies of its
// own appends their registrations.
func Strategies() strategy.Set {
	return strategy.Set{
		peerprior.Register(),
		tsampling.RegisterFTS(),
		ftsde.Register(),
		consensus.Register(),
		constrainedgp.Register(),
		density.Register(),
		fair.Register(),
		averageobjective.Register(),
		alone.Register(),
		alone.RegisterParEGO(),
		alone.RegisterTS(),
		alone.RegisterLogEI(),
		alone.RegisterUCB(),
		alone.RegisterMES(),
	}.With(Extensions()...).WithExchanges(Exchanges()...)
}

// Extensions returns the extensions of the surrogate. A program adds them to strategies of its own
// with [strategy.Set.With].
func Extensions() []strategy.SurrogateExtension {
	return []strategy.SurrogateExtension{
		sharedlatent.Extension(),
		hyper.Extension(),
	}
}

// Exchanges returns the exchanges that tasks with any strategy may ask for. A program adds them to
// strategies of its own with [strategy.Set.WithExchanges].
func Exchanges() []strategy.ExchangeAddition {
	return []strategy.ExchangeAddition{sketch.Addition()}
}
