// Package mcpcmd contains the command mcp, which gives an agent tools for the tasks of the node that runs on
// the data directory.
package mcpcmd

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/mcpserver"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy/all"
)

// Limits of the HTTP interface on leases.
const (
	minLease = time.Second
	maxLease = 30 * 24 * time.Hour
)

// options are the flags of mcp.
type options struct {
	dir      string
	client   string
	lease    time.Duration
	tasks    []string
	readOnly bool
}

// New returns the command mcp.
func New() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "mcp",
		Short: "Give an agent tools for a running node's tasks, by the Model Context Protocol",
		Long: `Give an agent, such as a language model, tools for the tasks of the node that runs on the
data directory: usually fbo-node serve. The agent's program starts this command and uses
its standard input and output, by the Model Context Protocol. docs/mcp.md has the
configuration, the tools and what the agent sees.

Without --task the agent works on all tasks of the node, and creates and leaves tasks.
--task restricts it to these; --read-only leaves only the tools that change nothing.`,
		Example: `  fbo-node mcp --task task.yaml
  fbo-node mcp --read-only`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.InOrStdin(), command.OutOrStdout())
		},
	}
	base.AddDataDir(command, &o.dir)
	flags := command.Flags()
	flags.StringVar(&o.client, "client", "agent", "name under which the agent holds trials; another one for each agent")
	base.FromEnvironment(command, "client")
	flags.DurationVar(&o.lease, "lease", 24*time.Hour, "time after the agent's last ask after which another client gets its trials")
	flags.StringArrayVar(&o.tasks, "task", nil, "`TASK` of the agent: a file, an ID, its first characters or a name; repeatable (default: all tasks)")
	flags.BoolVar(&o.readOnly, "read-only", false, "give only the tools that change nothing")
	return command
}

func (o options) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := agent.CheckClient(o.client); err != nil {
		return base.Usagef("--client: %w", err)
	}
	if o.lease < minLease || o.lease > maxLease {
		return base.Usagef("--lease %v: expected times from 1s to 720h (30 days), such as 24h", o.lease)
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	server := mcpserver.Options{Version: base.Version(), Client: o.client, Lease: o.lease, ReadOnly: o.readOnly, Strategies: all.Strategies()}
	for _, wanted := range o.tasks {
		found, err := findTask(ctx, dir, wanted)
		if err != nil {
			return err
		}
		server.Tasks = append(server.Tasks, found)
	}
	err = mcpserver.Serve(ctx, mcpserver.New(node{dir}, server), in, out)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// findTask returns the task that a flag names. A file or a complete ID may name one that the node joins
// later.
func findTask(ctx context.Context, dir, wanted string) (taskref.Ref, error) {
	if wanted == "" || wanted == "-" { // standard input has the agent's messages
		return taskref.Ref{}, base.Usagef("--task %q: expected the name of a task file, or a task of the node", wanted)
	}
	found, err := past.FindServed(ctx, dir, wanted)
	if err == nil {
		return found, nil
	}
	if of, unreadable := base.FileTask(wanted); unreadable == nil && of != nil {
		return taskref.Ref{ID: of.ID().String(), Name: of.Name}, nil
	}
	if taskref.IsID(wanted) {
		return taskref.Ref{ID: wanted}, nil
	}
	return taskref.Ref{}, err
}

// node is the node that runs on a data directory.
type node struct{ dir string }

// Do sends a request over the control socket.
func (n node) Do(ctx context.Context, r mcpserver.Request, into any) error {
	ok, err := control.Do(ctx, n.dir, control.Request(r), into)
	if refused, is := errors.AsType[*control.RefusedError](err); is {
		return errors.New(refused.Reason)
	}
	if err == nil && !ok {
		return past.NoNode(n.dir)
	}
	return err
}
