package main

import (
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/strategy"
)

func addModelled(flags *pflag.FlagSet, modelled *int) {
	flags.IntVar(modelled, "modelled", strategy.DefaultModelled, "results that an exact model learns from at most: of more the best, the newest and others across the space")
}

func checkModelled(modelled int) error {
	if modelled < strategy.MinModelled {
		return usagef("--modelled %d: accepted are %d and more", modelled, strategy.MinModelled)
	}
	return nil
}
