package base

import (
	"log/slog"
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

// AddLogLevel adds the flag of commands that run a node.
func AddLogLevel(command *cobra.Command, level *string) {
	command.Flags().StringVar(level, "log-level", "",
		"diagnostics on standard error: debug, info, warn or error, or such as fbo=debug,error (default $GOLOG_LOG_LEVEL, else error)")
	FromEnvironment(command, "log-level")
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
		switch level {
		case "debug", "info", "warn", "error":
		default:
			return Usagef("--log-level %q: accepted are debug, info, warn and error, for all or, as in fbo=debug,error, for one logger", text)
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
