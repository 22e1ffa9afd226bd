package main

import (
	"fmt"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/cmaes"
	"github.com/c-bata/goptuna/tpe"

	"github.com/fbo-node/fbo/task"
)

// The methods of this file are those of goptuna with its own defaults. Parts of it
// draw from an unseeded source (TPE, and choices drawn at random), so that a seed
// does not repeat such a run exactly.

// goptunaTPE is a weak rival in v0.9.0: its mixture's log density leaves out a
// square and sums logarithms where it should take the logarithm of a sum
// (tpe/sampler.go, gmmLogPDF and logsumRows).
func goptunaTPE(s search) error {
	return s.goptuna(goptuna.StudyOptionSampler(tpe.NewSampler(tpe.SamplerOptionSeed(s.seed64()))))
}

// goptunaCMAES uses CMA-ES from the first trial on; what it does not support
// (choices) is drawn at random. Its restarts are off, as they are by default: they
// depend on the order of a map, so that a seed would not repeat a run.
func goptunaCMAES(s search) error {
	return s.goptuna(
		goptuna.StudyOptionRelativeSampler(cmaes.NewSampler(cmaes.SamplerOptionSeed(s.seed64()))),
		goptuna.StudyOptionSampler(goptuna.NewRandomSampler(goptuna.RandomSamplerOptionSeed(s.seed64()))),
		goptuna.StudyOptionDefineSearchSpace(distributions(s.space)),
	)
}

func (s search) seed64() int64 { return int64(s.seed.Stream("goptuna", 0).Uint64() >> 1) }

func (s search) goptuna(options ...goptuna.StudyOption) error {
	study, err := goptuna.CreateStudy("solo", append(options,
		goptuna.StudyOptionDirection(goptuna.StudyDirectionMinimize),
		goptuna.StudyOptionLogger(nil))...)
	if err != nil {
		return fmt.Errorf("goptuna: %w", err)
	}
	err = study.Optimize(func(trial goptuna.Trial) (float64, error) {
		design, err := suggested(trial, s.space)
		if err != nil {
			return 0, err
		}
		return s.observe(design), nil
	}, s.evals)
	if err != nil {
		return fmt.Errorf("goptuna: %w", err)
	}
	return nil
}

func suggested(trial goptuna.Trial, space *task.Space) (task.Design, error) {
	var values []task.Value
	for _, p := range space.Parameters() {
		var value task.Value
		switch {
		case p.Kind == task.Categorical:
			choice, err := trial.SuggestCategorical(p.Name, p.Choices)
			if err != nil {
				return task.Design{}, err
			}
			value = task.ChoiceValue(choice)
		case p.Kind == task.Int:
			v, err := trial.SuggestInt(p.Name, int(p.Low), int(p.High))
			if err != nil {
				return task.Design{}, err
			}
			value = task.IntValue(int64(v))
		default:
			v, err := trial.SuggestFloat(p.Name, p.Low, p.High)
			if err != nil {
				return task.Design{}, err
			}
			value = task.FloatValue(min(max(v, p.Low), p.High))
		}
		values = append(values, value)
	}
	return space.NewDesign(values...)
}

// distributions declares the space beforehand, as CMA-ES needs it.
func distributions(space *task.Space) map[string]any {
	all := map[string]any{}
	for _, p := range space.Parameters() {
		switch p.Kind {
		case task.Categorical:
			all[p.Name] = goptuna.CategoricalDistribution{Choices: p.Choices}
		case task.Int:
			all[p.Name] = goptuna.IntUniformDistribution{Low: int(p.Low), High: int(p.High)}
		default:
			all[p.Name] = goptuna.UniformDistribution{Low: p.Low, High: p.High}
		}
	}
	return all
}
