// Package cli is the command line of fbo-node. Packages below it contain the commands by family;
// base, control, past, render and progress contain the common parts of families.
package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/libp2p/go-libp2p/gologshim"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/democmd"
	"github.com/fbo-node/fbo/internal/cli/doctorcmd"
	"github.com/fbo-node/fbo/internal/cli/mcpcmd"
	"github.com/fbo-node/fbo/internal/cli/run"
	"github.com/fbo-node/fbo/internal/cli/sharecmd"
	"github.com/fbo-node/fbo/internal/cli/show"
	"github.com/fbo-node/fbo/internal/cli/simulate"
	"github.com/fbo-node/fbo/internal/cli/taskcmd"
	"github.com/fbo-node/fbo/internal/cli/trialcmd"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
)

// quicWarning silences one warning of quic-go.
const quicWarning = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"

// Main runs the command that the arguments name, and returns the program's exit code.
func Main(args []string) int {
	gologshim.SetDefaultHandler(base.LogHandler()) // libp2p's logs
	// QUIC would write to standard error that the system's UDP buffers are small; doctor reports
	// it, with the remedy. A value that the user has set is kept.
	if _, set := os.LookupEnv(quicWarning); !set {
		_ = os.Setenv(quicWarning, "true") // failing, it warns
	}
	ctx, stop := endOnSignals()
	defer stop()

	root := Command()
	root.SetArgs(trialcmd.SplitNegative(args))
	command, err := root.ExecuteContextC(ctx)
	err = base.ExplainEnvironment(command, err)
	if err == nil {
		return base.ExitDone
	}
	if errors.Is(err, node.ErrDamaged) {
		err = fmt.Errorf("%w; %s", err, doctorcmd.RepairJournal)
	}
	err = datadir.Explain(err)
	fmt.Fprintf(os.Stderr, "fbo-node: %s\n", sanitize.Lines(err.Error())) // errors quote files and peers
	return base.ExitCode(err)
}

// Command returns the program's command with its subcommands.
func Command() *cobra.Command {
	root := base.NewRoot()
	addVersion(root)
	demo := democmd.New()
	demo.PreRun = func(*cobra.Command, []string) { base.ClearEnvironment(root) } // its nodes are a network of their own
	root.AddCommand(run.New(), run.NewJoin(), run.NewServe(), run.NewKeep(), run.NewHub(), sharecmd.New(), demo, taskcmd.NewTask(), show.NewStatus(), show.NewWatch(), run.NewWeb(), show.NewHistory(), show.NewExport(), show.NewBest(), show.NewLog(), trialcmd.NewAsk(), trialcmd.NewTell(), trialcmd.NewNote(), mcpcmd.New(), taskcmd.NewPrivacy(),
		doctorcmd.New(), newPeerID(), newVersion(), democmd.NewTrain(), simulate.New(), base.NewSupervisor())
	addCompletion(root)
	return root
}
