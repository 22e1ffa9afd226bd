package alone

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of [Engine], the best strategy without peers.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "alone", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewEngine(t), nil },
		Describe: func(*task.Task) string {
			return "expected improvement and max-value entropy search in turns, alone"
		},
	}
}

// RegisterLogEI registers expected improvement.
func RegisterLogEI() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "logei", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewLogEI(t), nil },
		Describe:     func(*task.Task) string { return "expected improvement alone" },
	}
}

// RegisterUCB registers the upper confidence bound.
func RegisterUCB() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "ucb", Settings: readUCBSettings},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewUCB(t), nil },
		Describe: func(t *task.Task) string {
			deviations := fmt.Sprintf("%d standard deviations", confidence)
			if c, ok := t.Strategy.Settings.(UCBSettings); ok {
				deviations = fmt.Sprintf("sqrt(%g * %d * ln(%g * t)) standard deviations in trial t", c.C1, t.Space.Len(), c.C2)
			}
			return "the upper confidence bound alone, the mean plus " + deviations + ""
		},
	}
}

// RegisterMES registers max-value entropy search.
func RegisterMES() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "mes", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewMES(t), nil },
		Describe:     func(*task.Task) string { return "max-value entropy search alone" },
	}
}

// RegisterTS registers Thompson sampling alone.
func RegisterTS() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "ts", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewTS(t), nil },
		Describe:     func(*task.Task) string { return "Thompson sampling alone" },
	}
}
