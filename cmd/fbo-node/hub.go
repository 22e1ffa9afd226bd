package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/node"
)

// hubOptions are the flags of hub.
type hubOptions struct {
	dir      string
	listen   []string
	allow    string
	json     bool
	logLevel string
}

func newHub() *cobra.Command {
	var o hubOptions
	command := &cobra.Command{
		Use:   "hub [flags]",
		Short: "Introduce nodes to each other, and relay between those behind NATs",
		Long: `Introduce the nodes of a task to each other, and relay between those that cannot
reach each other, such as nodes behind different NATs.

A hub runs on a machine that all of them can reach, usually with a public address.
It takes part in no task. Nodes use it with run --hub ADDRESS. What a hub learns,
and its limits: docs/network.md.

Ctrl-C stops it; nodes come back to it when it starts again.`,
		Example: `  fbo-node hub
  fbo-node hub --listen /ip4/0.0.0.0/udp/443/quic-v1 --allow lab.txt`,
		Args: exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.dir, "data-dir", "", "directory of the hub's identity (default \"hub\" in the data directory of a node)")
	flags.StringArrayVar(&o.listen, "listen", nil, "multiaddress to listen on, repeatable (default: port 4001 by QUIC and TCP)")
	addAllow(command, &o.allow)
	flags.BoolVar(&o.json, "json", false, "print one JSON object per event")
	addLogLevel(command, &o.logLevel)
	return command
}

func (o hubOptions) run(ctx context.Context, out io.Writer) error {
	if err := node.CheckListen(o.listen); err != nil {
		return usagef("--listen: %w", err)
	}
	allowed, err := readAllow(o.allow)
	if err != nil {
		return err
	}
	if err := setLogLevel(o.logLevel); err != nil {
		return err
	}
	dir := o.dir
	if dir == "" {
		if dir, err = resolveDataDir(""); err != nil {
			return err
		}
		dir = hubDir(dir)
	}
	h := &node.Hub{Dir: dir, Listen: o.listen, Allow: allowed, Log: logger()}
	if err := h.Start(ctx); err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return nil
		}
		return err
	}
	stopAnswers, err := serveHub(h)
	if err != nil {
		o.warning(out, fmt.Sprintf("status --running will not find this hub: %v", err))
	} else {
		defer stopAnswers()
	}
	o.started(out, h)
	<-ctx.Done()
	if o.json {
		_ = printJSON(out, object{"event": "interrupted"})
	} else {
		fmt.Fprintln(out, "stopped; nodes come back when the hub does")
	}
	return h.Close()
}

// started tells the addresses. A failing write is not worth stopping for.
func (o hubOptions) started(out io.Writer, h *node.Hub) {
	if o.json {
		_ = printJSON(out, object{
			"event": "hub_started", "peer_id": h.ID().String(), "addresses": h.Addresses(), "data_dir": h.Dir, "open": h.Allow == nil,
		})
		return
	}
	fmt.Fprintf(out, "hub %s, data in %s\n", h.ID(), h.Dir)
	for _, address := range worthShowing(h.Addresses()) {
		fmt.Fprintf(out, "nodes use it with --hub %s\n", address)
	}
	if h.Allow == nil {
		fmt.Fprintln(out, "The hub is open: whoever reaches it can use it (--allow FILE names who may).")
	}
}

func (o hubOptions) warning(out io.Writer, message string) {
	if o.json {
		_ = printJSON(out, object{"event": "warning", "message": message})
	} else {
		fmt.Fprintf(out, "warning: %s\n", message)
	}
}

// hubDir is the hub's own directory within the data directory of a node.
func hubDir(dataDir string) string { return filepath.Join(dataDir, "hub") }
