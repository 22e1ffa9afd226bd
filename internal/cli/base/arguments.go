package base

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Exactly returns cobra's check of the number of arguments. Its error is one of usage, with the
// expected form and the surplus arguments.
func Exactly(count int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != count {
			takes := sanitize.Count(count, "argument")
			if count == 0 {
				takes = "no arguments"
			}
			return wrongArguments(command, takes, count, args)
		}
		return nil
	}
}

// AtMost returns the check of a command with optional arguments.
func AtMost(count int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) > count {
			return wrongArguments(command, "at most "+sanitize.Count(count, "argument"), count, args)
		}
		return nil
	}
}

// wrongArguments returns an error that names the arguments after the first count.
func wrongArguments(command *cobra.Command, takes string, count int, args []string) error {
	return Usagef("%s takes %s, not %d: %s%s", command.CommandPath(), takes, len(args), command.UseLine(), Surplus(args[min(count, len(args)):]))
}

// Surplus returns surplus arguments for an error.
func Surplus(args []string) string {
	if len(args) == 0 {
		return ""
	}
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = fmt.Sprintf("%.100q", arg)
	}
	return "; unexpected: " + sanitize.List(names)
}

// Argument returns the first argument; empty if there is none.
func Argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// flagProblem returns the accepted values of a flag where the library shows Go's own error.
func flagProblem(err error) string {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err.Error()
	}
	_, listed := invalid.GetFlag().Value.(*choice)
	if listed || invalid.GetFlag().Value.Type() == "size" { // their own errors list the accepted values
		return fmt.Sprintf("--%s %q: %v", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	accepted := map[string]string{
		"int":      "whole numbers",
		"uint64":   "whole numbers from 0",
		"duration": "times such as 90s or 10m",
		"bool":     "true and false",
	}[invalid.GetFlag().Value.Type()]
	if accepted == "" {
		return err.Error()
	}
	return fmt.Sprintf("--%s %s: expected %s", invalid.GetFlag().Name, invalid.GetValue(), accepted)
}
