package main

import (
	"context"
	"log/slog"
	"strings"

	golog "github.com/ipfs/go-log/v2"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/plain"
)

const mostLogged = 4000 // characters of one attribute

// logger is where the library's diagnostics go: to the go-log logger "fbo".
func logger() *slog.Logger {
	return slog.New(logHandler()).With("logger", "fbo")
}

// logHandler passes logs on to go-log, whose levels come from GOLOG_LOG_LEVEL.
func logHandler() slog.Handler { return readable{golog.SlogHandler()} }

// readable writes errors as their text, and that and other texts, which may be a
// peer's, fit to be shown. go-log marshals what it does not know, and most errors,
// having no exported fields, come out as {}.
type readable struct{ slog.Handler }

func (r readable) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, record.Message, record.PC)
	record.Attrs(func(attribute slog.Attr) bool {
		clean.AddAttrs(readableAttr(attribute))
		return true
	})
	return r.Handler.Handle(ctx, clean)
}

func (r readable) WithAttrs(attributes []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attributes))
	for i, attribute := range attributes {
		clean[i] = readableAttr(attribute)
	}
	return readable{r.Handler.WithAttrs(clean)}
}

func (r readable) WithGroup(name string) slog.Handler { return readable{r.Handler.WithGroup(name)} }

func readableAttr(attribute slog.Attr) slog.Attr {
	if err, ok := attribute.Value.Any().(error); ok && err != nil {
		return slog.String(attribute.Key, plain.Text(err.Error(), mostLogged))
	}
	if attribute.Value.Kind() == slog.KindString {
		return slog.String(attribute.Key, plain.Text(attribute.Value.String(), mostLogged))
	}
	return attribute
}

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
