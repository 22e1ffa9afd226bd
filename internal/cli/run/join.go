package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/taskcmd"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/task"
)

// requestTimeout is the maximum time for which join looks for a node that sends the task.
const requestTimeout = time.Minute

// joined is what a string of join names.
type joined struct {
	task       *task.Task
	invitation *invitation.Invitation // nil if the task is open
}

// NewJoin returns the command join.
func NewJoin() *cobra.Command {
	var o options
	var yes bool
	command := &cobra.Command{
		Use:   "join STRING [flags] -- COMMAND [ARGS…]",
		Short: "Join a task by one string, and tune the objective that COMMAND measures",
		Long: `Join a task by one string that fbo-node task invite has printed, and tune the objective
that COMMAND measures. The string has the task's ID, a secret and addresses; nothing else
is needed. The node gets the task from a node that works on it, checks it against the ID,
shows it and asks whether to join. Then it runs as fbo-node run does, with the same flags.

STRING may be a file with the string, or - for standard input: other users of the machine
can see arguments of programs.

A later start with the same string needs no network, nor does fbo-node run NAME.`,
		Example: `  fbo-node join fbo-join-1-… -- python train.py --lr {learning_rate}
  fbo-node join string.txt --yes --evals 50 -- ./measure {x}`,
		Args: func(command *cobra.Command, args []string) error {
			return checkArguments(command, args, "string", "string")
		},
		RunE: func(command *cobra.Command, args []string) error {
			o.note(command)
			return o.joinBy(command.Context(), args[0], yes, args[1:])
		},
	}
	o.add(command)
	command.Flags().BoolVar(&yes, "yes", false, "join without a question")
	return command
}

// readTicket reads the string that an argument names.
func readTicket(argument string) (admission.Ticket, error) {
	text := argument
	if argument == "-" {
		data, err := io.ReadAll(io.LimitReader(os.Stdin, 2*admission.MaxTextBytes))
		if err != nil {
			return admission.Ticket{}, base.Usagef("join: standard input: %w", err)
		}
		text = string(data)
	} else if info, err := os.Stat(argument); err == nil && info.Mode().IsRegular() {
		data, err := bounded.ReadFile(argument, 2*admission.MaxTextBytes)
		if err != nil {
			return admission.Ticket{}, base.Usagef("join: %w", err)
		}
		text = string(data)
	}
	ticket, err := admission.Parse(text)
	if err != nil {
		return ticket, base.Usagef("join: %w", err)
	}
	return ticket, nil
}

func (o options) joinBy(ctx context.Context, argument string, yes bool, args []string) error {
	ticket, err := readTicket(argument)
	if err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	id := ticket.Task.String()
	o.joined, err = findJoined(ctx, dir, ticket)
	if err != nil {
		return err
	}
	if o.joined == nil {
		asks := base.IsTerminal(os.Stdin) && base.IsTerminal(os.Stdout) && argument != "-" && !o.json
		if !yes && !asks {
			return base.Usagef("join: there is no terminal to show the task and ask; expected --yes to join without a question")
		}
		if err := o.request(ctx, dir, ticket); err != nil {
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		if !o.json {
			tag := ""
			if i := o.joined.invitation; i != nil {
				tag = i.Keys().Tag().String()
			}
			if err := taskcmd.Describe(ctx, os.Stdout, dir, o.joined.task, tag); err != nil {
				return err
			}
		}
		if !yes {
			if ok, err := confirm(ctx, os.Stdin, os.Stdout, "Join? [y/N] "); err != nil || !ok {
				return err
			}
		}
		if err := o.replaceInvitation(dir, id); err != nil {
			return err
		}
	}
	if err := store.KeepTicketAddresses(dir, ticket); err != nil {
		return err
	}
	o.network.hubs = append(o.network.hubs, ticket.Hubs...)
	o.network.peers = append(o.network.peers, ticket.Peers...)
	return o.run(ctx, id, args)
}

// findJoined returns the task of a string if the data directory has it, with the invitation; otherwise
// nil.
func findJoined(ctx context.Context, dir string, ticket admission.Ticket) (*joined, error) {
	id := ticket.Task.String()
	invited, ok, err := store.InvitationOf(dir, ticket)
	if err != nil || !ok {
		return nil, err
	}
	t, err := past.FindTask(ctx, dir, id)
	if err != nil {
		return nil, nil // the data directory does not have it; the node's start reports damage
	}
	return &joined{t, invited}, nil
}

// replaceInvitation replaces an earlier invitation that the data directory keeps by the one that the
// node has received, since the next start takes the one that is kept. Without an earlier one, the
// session stores it.
func (o options) replaceInvitation(dir, id string) error {
	kept, err := store.JoinedBy(dir, id)
	if err != nil || kept == nil || o.joined.invitation == nil || kept.Equal(*o.joined.invitation) {
		return err
	}
	if !o.json {
		fmt.Println("warning: the invitation is another than before; nodes that have the earlier one are not met any more")
	}
	return store.KeepInvitation(dir, *o.joined.invitation)
}

// request gets the task of a string from a node that works on it.
func (o *options) request(ctx context.Context, dir string, ticket admission.Ticket) (err error) {
	allowed, err := base.ReadAllow(o.network.allow)
	if err != nil {
		return err
	}
	if !o.json {
		fmt.Printf("asks for task %s at %s\n", ticket.Task, sanitize.Count(len(ticket.Hubs)+len(ticket.Peers), "address"))
	}
	network := o.network
	network.mdns = false
	n := network.node(dir, allowed, func(message string) {
		if !o.json {
			fmt.Println("warning:", sanitize.Lines(message))
		}
	})
	if err := n.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	requesting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	t, invited, err := n.RequestTask(requesting, ticket.Text())
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("join: %w", err)
	}
	if t.Space.Listing() != nil {
		return fmt.Errorf("join: %w", admission.ErrTable)
	}
	o.joined = &joined{t, invited}
	return nil
}

// confirm asks a question until the answer or the end of the context; everything except y and yes
// means no.
func confirm(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	fmt.Fprint(out, question)
	answers := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // an error means no
		answers <- line
	}()
	select {
	case line := <-answers:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false, nil
	}
}
