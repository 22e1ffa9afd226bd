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

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/democmd"
	"github.com/fbo-node/fbo/internal/cli/doctorcmd"
	"github.com/fbo-node/fbo/internal/cli/simulate"
	"github.com/fbo-node/fbo/internal/cli/taskcmd"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
)

// quicWarning silences one warning of quic-go.
const quicWarning = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	gologshim.SetDefaultHandler(base.LogHandler()) // libp2p's logs
	// QUIC would write to standard error that the system's UDP buffers are small;
	// doctor says so, and what to do. Who sets the variable decides.
	if _, set := os.LookupEnv(quicWarning); !set {
		_ = os.Setenv(quicWarning, "true") // failing, it warns
	}
	ctx, stop := endOnSignals()
	defer stop()

	root := base.NewRoot()
	root.AddCommand(newRun(), newServe(), newKeep(), newHub(), democmd.New(), taskcmd.NewTask(), newStatus(), newWatch(), newWeb(), newHistory(), newExport(), newBest(), newLog(), taskcmd.NewPrivacy(),
		doctorcmd.New(), newPeerID(), newVersion(), democmd.NewTrain(), simulate.New(), base.NewSupervisor())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
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
