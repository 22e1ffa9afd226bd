package alone

import (
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// RegisterLogEI registers expected improvement.
func RegisterLogEI() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "logei", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewLogEI(t), nil },
		Describe:     func(*task.Task) string { return "expected improvement alone; nothing is shared" },
	}
}

// RegisterUCB registers the upper confidence bound.
func RegisterUCB() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "ucb"},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewUCB(t), nil },
		Describe:     func(*task.Task) string { return "the upper confidence bound alone; nothing is shared" },
	}
}

// RegisterMES registers max-value entropy search.
func RegisterMES() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "mes", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewMES(t), nil },
		Describe:     func(*task.Task) string { return "max-value entropy search alone; nothing is shared" },
	}
}
