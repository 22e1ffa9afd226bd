package trialcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// Limits of the HTTP interface.
const (
	maxHeld  = 1000                // trials that a client holds
	maxLease = 30 * 24 * time.Hour // of a trial
)

// defaultLease is long enough for experiments that take days.
const defaultLease = 7 * 24 * time.Hour

// waitSeconds is the time for which one request waits for designs.
const waitSeconds = 15

// askOptions are the flags of ask.
type askOptions struct {
	dir    string
	client string
	invite string
	count  int
	lease  time.Duration
	open   bool
	format string
	json   bool
}

// NewAsk returns the command ask.
func NewAsk() *cobra.Command {
	var o askOptions
	command := &cobra.Command{
		Use:   "ask [TASK]",
		Short: "Get a design to evaluate by hand, from a running node",
		Long: `Get a design to evaluate by hand, from the node that runs on the data directory:
usually fbo-node serve. Each ask gives another trial. fbo-node tell reports its result.

TASK is a file, an ID, its first characters or a name; a node that works on one task needs none. A
task file on which a node of serve does not work yet is joined.

A trial stays with its client over restarts of the node, until the end of its lease. Each ask of the
client, also with --open, renews the leases of all its trials. After that the next client that asks
gets the trial; a result that comes late is still accepted, unless the other client was faster.`,
		Example: `  fbo-node ask task.yaml
  fbo-node tell 1 0.25
  fbo-node ask --open`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			return o.run(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), base.Argument(args))
		},
	}
	flags := command.Flags()
	base.AddDataDir(command, &o.dir)
	addClient(command, &o.client)
	base.AddInvite(command, &o.invite)
	flags.IntVar(&o.count, "count", 1, "number of new trials")
	flags.DurationVar(&o.lease, "lease", defaultLease, "time after the last ask of this client after which another client gets the new trials")
	flags.BoolVar(&o.open, "open", false, "give no new trial: list the trials that this client holds, and renew their leases")
	base.AddChoice(command.Flags(), &o.format, "format", "text", render.DesignFormats(), "")
	flags.BoolVar(&o.json, "json", false, "the same as --format json")
	return command
}

// addClient adds the flag of the commands of this package.
func addClient(command *cobra.Command, client *string) {
	command.Flags().StringVar(client, "client", defaultClient, "name under which trials are held; another one for each person")
	base.FromEnvironment(command, "client")
}

func (o askOptions) validate(wanted string) error {
	switch {
	case o.count < 1 || o.count > maxHeld:
		return base.Usagef("--count %d: expected 1 to %d", o.count, maxHeld)
	case o.lease < time.Second || o.lease > maxLease:
		return base.Usagef("--lease %v: expected times from 1s to 720h (30 days), such as 24h", o.lease)
	case wanted == "-":
		return base.Usagef("ask - : the task is on standard input; expected the name of a task file, or a task of the node")
	}
	return nil
}

func (o askOptions) run(ctx context.Context, out, notes io.Writer, wanted string) error {
	if err := o.validate(wanted); err != nil {
		return err
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	create := func(ctx context.Context, t *task.Task) error { return o.create(ctx, dir, wanted, t, notes) }
	if o.open {
		create = nil
	}
	p, err := find(ctx, dir, o.client, wanted, create)
	if err != nil {
		return err
	}
	held, err := p.open(ctx)
	if err != nil {
		return err
	}
	if o.open {
		if held, err = p.renew(ctx, held); err != nil {
			return err
		}
		return o.print(out, notes, p, held)
	}
	fresh, err := o.ask(ctx, p, held, notes)
	if len(fresh) > 0 || err == nil {
		if printed := o.print(out, notes, p, fresh); printed != nil {
			return printed
		}
	}
	if err == nil && len(held) > 0 && o.text() {
		fmt.Fprintf(notes, "this client also holds %s; `fbo-node ask --open` lists all\n", sanitize.Count(len(held), "other trial"))
	}
	return err
}

// create joins the task of a file.
func (o askOptions) create(ctx context.Context, dir, file string, t *task.Task, notes io.Writer) error {
	body, err := newOrder(file, t, o.invite)
	if err != nil {
		return err
	}
	var joined struct{}
	ok, err := control.Post(ctx, dir, "/v1/tasks", body, &joined)
	if err == nil && !ok {
		err = past.NoNode(dir)
	}
	if err == nil {
		fmt.Fprintf(notes, "task %q (%s) is joined, also at later starts of the node\n", t.Name, t.ID())
	}
	return err
}

// ask returns new trials for the client, besides those that it holds. It waits for their designs as
// long as that takes. With an error it returns the trials that the client got before.
func (o askOptions) ask(ctx context.Context, p place, held []trial, notes io.Writer) (fresh []trial, err error) {
	if len(held)+o.count > maxHeld {
		return nil, fmt.Errorf("client %q holds %d trials, expected at most %d; `fbo-node tell` reports results", p.client, len(held), maxHeld)
	}
	body := base.Object{"client": p.client, "count": len(held) + o.count, "lease_seconds": o.lease.Seconds(), "wait_seconds": waitSeconds}
	for noted := ""; ; {
		var answer struct {
			Trials   []json.RawMessage `json:"trials"`
			WaitsFor string            `json:"waits_for"`
		}
		if err := p.post(ctx, "/ask", body, &answer); err != nil {
			return fresh, err
		}
		all, err := p.decode(answer.Trials)
		if err != nil {
			return fresh, err
		}
		fresh = slices.DeleteFunc(all, func(one trial) bool {
			return slices.ContainsFunc(held, func(old trial) bool { return old.ID == one.ID })
		})
		if len(fresh) >= o.count {
			return fresh, nil
		}
		if answer.WaitsFor != noted {
			noted = answer.WaitsFor
			fmt.Fprintf(notes, "waits: %s; Ctrl-C ends waiting\n", sanitize.Text(noted, render.MaxReason))
		}
	}
}

// renew begins the leases of trials anew.
func (p place) renew(ctx context.Context, held []trial) ([]trial, error) {
	for _, one := range held {
		var renewed struct {
			LeaseEnds time.Time `json:"lease_ends"`
		}
		if err := p.post(ctx, fmt.Sprintf("/trials/%d/heartbeat", one.ID), base.Object{"client": p.client}, &renewed); err != nil {
			return nil, err
		}
	}
	return p.open(ctx) // with the new ends
}

// text reports whether the output is for people.
func (o askOptions) text() bool { return !o.json && o.format == "text" }

func (o askOptions) print(out, notes io.Writer, p place, trials []trial) error {
	if o.json || o.format == "json" {
		encoded := make([]json.RawMessage, len(trials))
		for i, one := range trials {
			encoded[i] = one.encoded
		}
		return base.PrintJSON(out, encoded)
	}
	var b bytes.Buffer
	for i, one := range trials {
		switch o.format {
		case "flags":
			fmt.Fprintf(notes, "%s\n", o.report(p, one))
			b.WriteString(render.DesignFlags(p.task.Space, one.Design))
			continue
		case "env":
			fmt.Fprintf(&b, "FBO_TRIAL=%d\nFBO_ATTEMPT=%d\n", one.ID, one.Attempts)
			if len(one.Steps) > 0 {
				fmt.Fprintf(&b, "FBO_STEP=%d\n", one.Steps.Last().Step)
			}
			b.WriteString(render.DesignVariables(p.task.Space, one.Design))
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(o.lines(p, one))
	}
	if len(trials) == 0 && o.text() {
		fmt.Fprintf(&b, "client %q holds no trials of task %q\n", p.client, p.task.Name)
	}
	_, err := out.Write(b.Bytes())
	return err
}

// lines returns a trial for people: its number, the progress of earlier attempts, a line for each
// parameter, and how to report the result.
func (o askOptions) lines(p place, one trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "trial %d of task %q  [%s]\n", one.ID, p.task.Name, one.Why)
	if progress := progressOf(one); progress != "" {
		fmt.Fprintln(&b, progress)
	}
	b.WriteString(render.DesignLines(p.task.Space, one.Design))
	fmt.Fprintln(&b, o.report(p, one))
	if !one.LeaseEnds.IsZero() {
		fmt.Fprintf(&b, "held by %q until %s\n", p.client, one.LeaseEnds.Local().Format("2006-01-02 15:04 MST"))
	}
	return b.String()
}

// progressOf returns the attempt, after the first, and the last value by step, so that an evaluation
// can be continued. It is empty if there is neither.
func progressOf(one trial) string {
	var parts []string
	if one.Attempts > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", one.Attempts))
	}
	if len(one.Steps) > 0 {
		last := one.Steps.Last()
		parts = append(parts, fmt.Sprintf("last step %d with value %g", last.Step, last.Value))
	}
	return strings.Join(parts, ", ")
}

// report returns the command that reports the result of a trial.
func (o askOptions) report(p place, one trial) string {
	words := []string{"VALUE"}
	for _, c := range p.task.Constraints {
		words = append(words, string(c.Output)+"="+map[bool]string{false: "NUMBER", true: "true|false"}[c.Truth])
	}
	for _, output := range p.task.ObjectiveOutputs()[1:] {
		words = append(words, string(output)+"=NUMBER")
	}
	return "report: " + p.tellLine(o.dir, one.ID, words...)
}
