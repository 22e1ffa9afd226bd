package sharedlatent

import (
	"cmp"
	"slices"

	"github.com/fbo-node/fbo/internal/exchange/sharedlatent/latent"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// peerFactors returns the statements of peers, at most maxPeers. If there are more, it takes those
// with the most observations. Ties are resolved in favour of the author whose ID sorts first.
func peerFactors(view strategy.View) PeerFactors {
	var all PeerFactors
	for _, said := range strategy.Shares[latent.Statement](view) {
		all = append(all, said)
	}
	slices.SortStableFunc(all, func(a, b latent.Statement) int { return cmp.Compare(b.Observations, a.Observations) })
	return all[:min(len(all), maxPeers)]
}

// Word is the value of the key type of the section surrogate that selects this extension.
const Word = "shared-latent"

// Extension returns the extension of the surrogate that this package implements.
func Extension() strategy.SurrogateExtension {
	return strategy.SurrogateExtension{
		SurrogateExtension: task.SurrogateExtension{Key: "type", Word: Word},
		Extend: func(t *task.Task, process surrogate.Process) (surrogate.PeerModel, error) {
			return newModel(t, process), nil
		},
		ExchangeAddition: addition(),
	}
}

func addition() strategy.ExchangeAddition {
	return strategy.ExchangeAddition{
		New:       func(t *task.Task) (strategy.Exchange, error) { return New(t) },
		Kind:      protocol.LatentKind,
		Rung:      strategy.RungExact,
		Described: "peers share what their results imply for a common latent function",
		Reveals:   "Peers receive what the results of each node imply for a common latent function. Designs and results can be computed from it: in effect they are published to all nodes that can take part.",
		Forge:     forge,
	}
}

// forge replaces the outputs of a statement by those of a random latent function, with noise. The
// rows remain those of the author.
func forge(t *task.Task, payload []byte, attack strategy.Forgery) ([]byte, error) {
	m, err := modelOf(t)
	if err != nil {
		return nil, err
	}
	spec := m.spec
	said, err := protocol.DecodeLatent(payload, t.Space.Len(), len(spec.Points))
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(spec.Points))
	for i := range values {
		values[i] = attack.Rand.NormFloat64()
	}
	for i, row := range said.Rows {
		said.Outputs[i] = attack.Rand.NormFloat64()
		for k, v := range row {
			said.Outputs[i] += v * values[k]
		}
		said.Outputs[i] = min(max(said.Outputs[i], -protocol.MaxLatent), protocol.MaxLatent)
	}
	return said.Encode(len(spec.Points))
}
