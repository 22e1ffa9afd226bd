package hyper

import (
	"strings"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
)

const (
	described = "peers tell each other what their results say of lengthscales and noise"
	reveals   = "Peers get to know how smooth this node's results are along each parameter, how noisy, and how sure that is; whoever keeps all of that may be able to compute designs and results from it, up to shift and scale."
)

// Extend returns the registration of a task's strategy with what the task adds to it: the
// exchange, where hyperparameters are shared. Otherwise it is r.
func Extend(r strategy.Registration, t *task.Task) strategy.Registration {
	if !t.Surrogate.SharedHyperparameters {
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
			return reveals
		}
		return r.Reveals(t) + " " + reveals
	}
	extended.Outdated = nil // what ended nodes have said of hyperparameters stays true
	extended.Forge = func(t *task.Task, kind string, payload []byte, lie strategy.Lie) ([]byte, error) {
		if kind == Kind || r.Forge == nil {
			return forge(t, payload, lie)
		}
		return r.Forge(t, kind, payload, lie)
	}
	return extended
}

// forge says with certainty that hyperparameters are anywhere.
func forge(t *task.Task, payload []byte, lie strategy.Lie) ([]byte, error) {
	said, err := protocol.DecodeHyperparameters(payload, t.Space.Len())
	if err != nil {
		return nil, err
	}
	model, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	standard := model.(surrogate.Pupil).Prior()
	for i, at := range standard.Location {
		said.Means[i] = at + surrogate.MostSpreads*standard.Spread[i]*(2*lie.Rand.Float64()-1)
		said.Precisions[i] = surrogate.MostPrecision
	}
	return said.Encode()
}
