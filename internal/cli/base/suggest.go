package base

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestionDistance is the maximum number of wrong letters in a name that has suggestions.
const suggestionDistance = 2

// UnknownCommand returns the error of a first argument that names no command below another one.
func UnknownCommand(command *cobra.Command, args []string) error {
	command.SuggestionsMinimumDistance = suggestionDistance
	near := command.SuggestionsFor(args[0])
	for i, name := range near {
		near[i] = command.CommandPath() + " " + name
	}
	return Usagef("unknown command %q%s; `%s --help` lists the commands", args[0], didYouMean(near), command.CommandPath())
}

// didYouMean returns a question for an error; empty without names.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = "`" + name + "`"
	}
	return "; did you mean " + listOf(quoted, "or") + "?"
}

// nearFlags returns the flags of a command whose names are like an unknown one. The library compares
// names of commands only; therefore each flag is a command here.
func nearFlags(command *cobra.Command, err error) (near []string) {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return nil
	}
	names := &cobra.Command{SuggestionsMinimumDistance: suggestionDistance}
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names.AddCommand(&cobra.Command{Use: flag.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	for _, name := range names.SuggestionsFor(unknown.GetSpecifiedName()) {
		near = append(near, "--"+name)
	}
	return near
}
