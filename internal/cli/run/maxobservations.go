package run

import (
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
)

func addMaxObservations(flags *pflag.FlagSet, maxObservations *int) {
	flags.IntVar(maxObservations, "max-observations", strategy.DefaultMaxObservations, "observations that an exact model learns from at most: of more the best, the newest and others across the space")
}

func checkMaxObservations(maxObservations int) error {
	if maxObservations < strategy.MinMaxObservations {
		return base.Usagef("--max-observations %d: expected %d or more", maxObservations, strategy.MinMaxObservations)
	}
	return nil
}
