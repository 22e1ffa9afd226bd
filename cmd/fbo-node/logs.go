package main

import (
	"log/slog"
	"strings"

	golog "github.com/ipfs/go-log/v2"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/ratelimitlog"
)

// logger is where the library's diagnostics go: to the go-log logger "fbo".
func logger() *slog.Logger {
	return slog.New(logHandler()).With("logger", "fbo")
}

// logHandler passes logs on to go-log, whose levels come from GOLOG_LOG_LEVEL, as far as
// peers leave them readable.
func logHandler() slog.Handler { return ratelimitlog.New(golog.SlogHandler()) }

// addLogLevel adds the flag of commands that run a node.
func addLogLevel(command *cobra.Command, level *string) {
	command.Flags().StringVar(level, "log-level", "",
		"diagnostics on standard error: debug, info, warn or error, or such as fbo=debug,error (default $GOLOG_LOG_LEVEL, else error)")
}

// setLogLevel understands what GOLOG_LOG_LEVEL does: a level for all loggers,
// or NAME=LEVEL for one, separated by commas.
func setLogLevel(text string) error {
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
			return usagef("--log-level %q: accepted are debug, info, warn and error, for all or, as in fbo=debug,error, for one logger", text)
		}
		if named {
			single = append(single, setting{name, level})
		} else {
			all = append(all, setting{name, level})
		}
	}
	for _, s := range append(all, single...) { // the level for all would undo those before it
		if err := golog.SetLogLevel(s.name, s.level); err != nil {
			return usagef("--log-level %q: %w", text, err)
		}
	}
	return nil
}
