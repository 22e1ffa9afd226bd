package alone

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of [Engine], the best strategy without peers.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "alone", Constraints: true, Objectives: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewEngine(t), nil },
		Describe: func(t *task.Task) string {
			if t.Several() {
				return "expected improvement of the hypervolume, alone"
			}
			return "expected improvement and max-value entropy search in turns, alone"
		},
	}
}

// RegisterParEGO returns the registration of [ParEGO], random scalarisations of several objectives.
func RegisterParEGO() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "parego", Constraints: true, Objectives: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewParEGO(t), nil },
		Describe: func(t *task.Task) string {
			if !t.Several() {
				return Register().Describe(t)
			}
			return "expected improvement of a random scalarisation of the objectives in each trial, alone"
		},
	}
}

// RegisterLogEI returns the registration of [LogEI], expected improvement.
func RegisterLogEI() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "logei", Constraints: true, Settings: readLogEISettings},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewLogEI(t), nil },
		Describe: func(t *task.Task) string {
			if NewLogEI(t).perCost {
				return "expected improvement per predicted cost, alone"
			}
			return "expected improvement alone"
		},
	}
}

// RegisterUCB returns the registration of [UCB], the upper confidence bound.
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

// RegisterMES returns the registration of [MES], max-value entropy search.
func RegisterMES() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "mes", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewMES(t), nil },
		Describe:     func(*task.Task) string { return "max-value entropy search alone" },
	}
}

// RegisterTS returns the registration of [TS], Thompson sampling without peers.
func RegisterTS() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "ts", Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return NewTS(t), nil },
		Describe:     func(*task.Task) string { return "Thompson sampling alone" },
	}
}
