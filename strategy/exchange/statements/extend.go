package statements

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/surrogate/latent"
	"github.com/fbo-node/fbo/task"
)

// heard are the statements of a view, at most mostPeers. Of equals those count whose author's
// name comes first.
func heard(view strategy.View) Heard {
	var all Heard
	for _, said := range strategy.Shares[latent.Statement](view) {
		all = append(all, said)
	}
	slices.SortStableFunc(all, func(a, b latent.Statement) int { return cmp.Compare(b.Observations, a.Observations) })
	return all[:min(len(all), mostPeers)]
}

const (
	described = "peers tell each other what their results say of a function in common"
	reveals   = "Beside that, peers get from each node what its results say of a function in common, from which designs and results can be computed: they are as good as published to all who can take part."
)

// Extend returns the registration of a task's strategy with what the task's surrogate adds to
// it: the exchange, where that is of type shared-latent. Otherwise it is r.
func Extend(r strategy.Registration, t *task.Task) strategy.Registration {
	if t.Surrogate.Type != task.SharedLatent {
		return r
	}
	extended := r
	extended.Exchanges = func(env strategy.Env) (list []strategy.Exchange, err error) {
		if r.Exchanges != nil {
			if list, err = r.Exchanges(env); err != nil {
				return nil, err
			}
		}
		e, err := New(env.Task)
		if err != nil {
			return nil, err
		}
		return append(list, e), nil
	}
	extended.Describe = func(t *task.Task) string {
		text := r.Describe(t)
		if r.Exchanges == nil {
			text = strings.TrimSuffix(text, "; nothing is shared")
		}
		return text + "; " + described
	}
	extended.Reveals = func(t *task.Task) string {
		if r.Reveals == nil {
			return strings.Replace(reveals, "Beside that, peers", "Peers", 1)
		}
		return r.Reveals(t) + " " + reveals
	}
	extended.Outdated = nil // what ended nodes have stated stays true
	extended.Forge = func(t *task.Task, kind string, payload []byte, lie strategy.Lie) ([]byte, error) {
		if kind == Kind || r.Forge == nil {
			return forge(t, payload, lie)
		}
		return r.Forge(t, kind, payload, lie)
	}
	return extended
}

// forge states outputs of another latent function at the designs of the author.
func forge(t *task.Task, payload []byte, lie strategy.Lie) ([]byte, error) {
	model, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	spec := model.(surrogate.Listener).Spec()
	said, err := protocol.DecodeLatent(payload, t.Space.Len(), len(spec.Points))
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(spec.Points))
	for i := range values {
		values[i] = lie.Rand.NormFloat64()
	}
	for i, row := range said.Rows {
		said.Outputs[i] = lie.Rand.NormFloat64()
		for k, v := range row {
			said.Outputs[i] += v * values[k]
		}
		said.Outputs[i] = min(max(said.Outputs[i], -protocol.MaxLatent), protocol.MaxLatent)
	}
	return said.Encode(len(spec.Points))
}
