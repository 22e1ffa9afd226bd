// Command fbo-node tunes an expensive objective together with peers: each
// machine runs a node, the nodes of one task learn from each other's shares,
// and there is no server.
//
// `fbo-node help` lists the commands. Exit codes: 0 done, 1 failed, 2 usage,
// 3 gave up because too many evaluations failed.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/libp2p/go-libp2p/gologshim"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitGaveUp = 3 // too many evaluations failed: starting again helps only when the cause has gone
)

// quicWarning silences one warning of quic-go.
const quicWarning = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	gologshim.SetDefaultHandler(logHandler()) // libp2p's logs
	// QUIC would write to standard error that the system's UDP buffers are small;
	// doctor says so, and what to do. Who sets the variable decides.
	if _, set := os.LookupEnv(quicWarning); !set {
		_ = os.Setenv(quicWarning, "true") // failing, it warns
	}
	ctx, stop := endOnSignals()
	defer stop()

	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if errors.Is(err, node.ErrDamaged) {
		err = fmt.Errorf("%w; %s", err, repairJournal)
	}
	err = datadir.Explain(err)
	fmt.Fprintf(os.Stderr, "fbo-node: %s\n", sanitize.Lines(err.Error())) // errors quote files and peers
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, node.ErrTooManyFailures):
		return exitGaveUp
	}
	return exitFailed
}

// usageError is an error in what the user gave: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "fbo-node",
		Short: "Tune an expensive objective together with peers, without a server",
		Long: `fbo-node tunes an expensive objective together with peers, without a server.

Every machine runs a node on the same task file. Nodes send each other what their
models believe: by default about where each believes its optimum to be, and nothing
of its results. docs/privacy.md says what that promises, and what other strategies
tell.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; `fbo-node help` lists the commands", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usagef("%s; see `%s --help`", flagProblem(err), command.CommandPath())
	})
	root.AddCommand(newRun(), newServe(), newKeep(), newHub(), newDemo(), newTask(), newStatus(), newWatch(), newWeb(), newHistory(), newExport(), newBest(), newLog(), newPrivacy(),
		newDoctor(), newPeerID(), newVersion(), newTrain(), newSimulate(), newSupervisor())
	return root
}

// flagProblem says what a flag accepts where the library shows Go's own error.
func flagProblem(err error) string {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err.Error()
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
	return fmt.Sprintf("--%s %s: accepted are %s", invalid.GetFlag().Name, invalid.GetValue(), accepted)
}

// exactly wraps cobra's argument check in a usage error that shows the form, and what is
// surplus.
func exactly(count int) cobra.PositionalArgs {
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

// atMost is exactly for arguments that may be left out.
func atMost(count int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) > count {
			return wrongArguments(command, "at most "+sanitize.Count(count, "argument"), count, args)
		}
		return nil
	}
}

// wrongArguments names those after the first count.
func wrongArguments(command *cobra.Command, takes string, count int, args []string) error {
	return usagef("%s takes %s, not %d: %s%s", command.CommandPath(), takes, len(args), command.UseLine(), surplus(args[min(count, len(args)):]))
}

// surplus names arguments that have no place.
func surplus(args []string) string {
	if len(args) == 0 {
		return ""
	}
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = fmt.Sprintf("%.100q", arg)
	}
	return "; unexpected: " + sanitize.List(names)
}
