// Package all names every strategy of this project, and every extension of the surrogate.
package all

import (
	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/consensus/constrainedgp"
	"github.com/fbo-node/fbo/consensus/density"
	"github.com/fbo-node/fbo/consensus/fair"
	"github.com/fbo-node/fbo/internal/exchange/hyper"
	"github.com/fbo-node/fbo/internal/exchange/sharedlatent"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/tsampling"
	"github.com/fbo-node/fbo/tsampling/ftsde"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// Strategies returns them. The first is the default of a task file, or of one with
// constraints the one that is for these. A program that has others appends theirs.
func Strategies() strategy.Set {
	return strategy.Set{
		peerprior.Register(),
		tsampling.RegisterFTS(),
		ftsde.Register(),
		consensus.Register(),
		constrainedgp.Register(),
		density.Register(),
		fair.Register(),
		alone.Register(),
		alone.RegisterTS(),
		alone.RegisterLogEI(),
		alone.RegisterUCB(),
		alone.RegisterMES(),
	}.With(Extensions()...)
}

// Extensions returns the extensions of the surrogate. A program adds them to its own strategies by
// [strategy.Set.With].
func Extensions() []strategy.SurrogateExtension {
	return []strategy.SurrogateExtension{
		sharedlatent.Extension(),
		hyper.Extension(),
	}
}
