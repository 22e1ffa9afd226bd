package base

import (
	"log/slog"
	"slices"
	"strings"

	golog "github.com/ipfs/go-log/v2"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/ratelimitlog"
)

// Logger returns the logger of the library's diagnostics: the go-log logger "fbo".
func Logger() *slog.Logger {
	return slog.New(LogHandler()).With("logger", "fbo")
}

// LogHandler passes logs on to go-log, whose levels come from GOLOG_LOG_LEVEL, at a limited rate,
// because peers can cause them.
func LogHandler() slog.Handler { return ratelimitlog.New(golog.SlogHandler()) }

// LogLevels returns the levels of the library's diagnostics.
func LogLevels() []string { return []string{"debug", "info", "warn", "error"} }

// AddLogLevel adds the flag of commands that run a node.
func AddLogLevel(command *cobra.Command, level *string) {
	command.Flags().StringVar(level, "log-level", "",
		"diagnostics on standard error: "+listOf(LogLevels(), "or")+", or such as fbo=debug,error (default $GOLOG_LOG_LEVEL, else error)")
	FromEnvironment(command, "log-level")
	if err := command.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(LogLevels(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag has a completion already
	}
}

// SetLogLevel sets the levels in a text of the form of GOLOG_LOG_LEVEL: a level for all loggers, or
// NAME=LEVEL for one, separated by commas.
func SetLogLevel(text string) error {
	if text == "" {
		return nil
	}
	type setting struct{ name, level string }
	var all, single []setting
	for part := range strings.SplitSeq(text, ",") {
		name, level, named := strings.Cut(part, "=")
		if !named {
			name, level = "*", part
		}
		if !slices.Contains(LogLevels(), level) {
			return Usagef("--log-level %q: expected %s, for all or, as in fbo=debug,error, for one logger", text, listOf(LogLevels(), "and"))
		}
		if named {
			single = append(single, setting{name, level})
		} else {
			all = append(all, setting{name, level})
		}
	}
	for _, s := range append(all, single...) { // the level for all would undo those before it
		if err := golog.SetLogLevel(s.name, s.level); err != nil {
			return Usagef("--log-level %q: %w", text, err)
		}
	}
	return nil
}
