package taskcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/task"
)

// makeString makes a string with which fbo-node join needs nothing else.
func (o inviteOptions) makeString(command *cobra.Command, t *task.Task) error {
	ctx, out := command.Context(), command.OutOrStdout()
	if t.Space.Listing() != nil {
		return base.BadUsage(admission.ErrTable)
	}
	if _, err := peeraddr.ParseHubs(o.hubs); err != nil {
		return base.Usagef("--hub: %w", err)
	}
	if _, err := peeraddr.ParsePeers(o.peers); err != nil {
		return base.Usagef("--peer: %w", err)
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	ticket := admission.Ticket{Task: t.ID(), Hubs: o.hubs, Peers: o.peers}
	if len(o.hubs)+len(o.peers) == 0 {
		if ticket.Peers, err = runningAddresses(ctx, dir); err != nil {
			return err
		}
	}
	if !o.open {
		ticket.Kind = admission.Member
		if ticket.Secret, err = o.chooseInvitation(ctx, dir, t); err != nil {
			return err
		}
	}
	expires := time.Now().Add(o.expires)
	if o.guest != "" {
		if err := o.makeGuest(dir, &ticket); err != nil {
			return err
		}
	}
	if err := ticket.Check(); err != nil {
		return base.BadUsage(err)
	}
	if o.out != "" {
		if err := datadir.CreateOnce(o.out, []byte(ticket.Text()+"\n")); errors.Is(err, fs.ErrExist) {
			return base.Usagef("--out: %s exists; expected a new file", o.out)
		} else if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if o.guest != "" { // after everything that may fail
		if err := store.AddGuest(dir, store.Guest{Name: o.guest, Token: ticket.Secret, Uses: o.uses, Made: time.Now(), Expires: expires}); err != nil {
			return base.BadUsage(err)
		}
	}
	if o.json {
		made := base.Object{"task": t.ID().String(), "name": t.Name, "hubs": texts(ticket.Hubs), "peers": texts(ticket.Peers)}
		if o.out == "" {
			made["string"] = ticket.Text()
		} else {
			made["file"] = o.out
		}
		if o.guest != "" {
			made["guest"], made["uses"], made["expires"], made["admitter"] = o.guest, o.uses, expires.UTC().Format(time.RFC3339), ticket.Admitter.String()
		}
		return base.PrintJSON(out, made)
	}
	if o.out == "" {
		fmt.Fprintln(out, ticket.Text())
	}
	if o.qr || o.out == "" && base.IsTerminal(os.Stdout) {
		if err := writeQR(out, ticket.Text()); err != nil {
			return err
		}
	}
	switch {
	case o.out != "" && o.guest != "":
		fmt.Fprintf(out, "%s has the string of guest %s, for %s until %s\n", o.out, o.guest, sanitize.Count(o.uses, "node"), expires.Format(time.DateTime))
	case o.out != "":
		fmt.Fprintf(out, "%s has a string to task %q (%s)\n", o.out, t.Name, t.ID())
	}
	return nil
}

func texts(list []string) []string { return append([]string{}, list...) }

// chooseInvitation returns the invitation of --invite, else the one that the data directory keeps, else
// a new one. The data directory keeps it, so that the node here does not run the task openly.
func (o inviteOptions) chooseInvitation(ctx context.Context, dir string, t *task.Task) (invitation.Invitation, error) {
	given, err := base.ReadInvite(o.invite, t)
	if err != nil {
		return invitation.Invitation{}, err
	}
	kept, err := store.JoinedBy(dir, t.ID().String())
	switch {
	case err != nil:
		return invitation.Invitation{}, err
	case given != nil && kept != nil && !given.Equal(*kept):
		return invitation.Invitation{}, base.Usagef("--invite: %s is another invitation than the one that data directory %s keeps; expected the same one", o.invite, dir)
	case kept != nil:
		return *kept, nil
	case given != nil && o.guest == "":
		return *given, nil
	}
	running, ok, err := control.Tasks(ctx, dir)
	if err != nil {
		return invitation.Invitation{}, err
	}
	for _, ref := range running {
		if ok && ref.ID == t.ID().String() {
			return invitation.Invitation{}, base.Usagef("the node that runs on data directory %s works on the task without an invitation; expected --open, or a node that was started with --invite", dir)
		}
	}
	if given == nil {
		made := invitation.New(t.ID())
		given = &made
	}
	if err := datadir.Make(dir); err != nil {
		return invitation.Invitation{}, err
	}
	return *given, store.KeepInvitation(dir, *given)
}

// makeGuest turns a member ticket into a guest's, which only the node of this data directory admits.
func (o inviteOptions) makeGuest(dir string, ticket *admission.Ticket) error {
	key, err := store.LoadIdentity(dir)
	if err != nil {
		return err
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	ticket.Kind, ticket.Admitter = admission.Guest, self
	ticket.Reception = ticket.Secret.Keys().Reception()
	ticket.Secret = invitation.New(ticket.Task)
	return nil
}

// maxRunningAddresses is the number of addresses of a running node in a string.
const maxRunningAddresses = 3

// runningAddresses returns addresses of the node that runs on a data directory.
func runningAddresses(ctx context.Context, dir string) ([]string, error) {
	n, err := control.Node(ctx, dir)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, base.Usagef("no node runs on data directory %s, whose addresses the string could have; expected --hub or --peer", dir)
	}
	all := slices.DeleteFunc(slices.Clone(n.Addresses), func(a string) bool { return strings.Contains(a, "/p2p-circuit") })
	others := slices.DeleteFunc(slices.Clone(all), func(a string) bool { return strings.HasPrefix(a, "/ip4/127.") || strings.HasPrefix(a, "/ip6/::1/") })
	if len(others) > 0 {
		all = others
	}
	return all[:min(len(all), maxRunningAddresses)], nil
}

func (o inviteOptions) listGuests(command *cobra.Command, t *task.Task) error {
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	guests, err := store.Guests(dir, t.ID().String())
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if o.json {
		return base.PrintJSON(out, base.Object{"task": t.ID().String(), "guests": append([]store.Guest{}, guests...)})
	}
	if len(guests) == 0 {
		fmt.Fprintf(out, "data directory %s has no guest strings to task %q\n", dir, t.Name)
	}
	for _, g := range guests {
		fmt.Fprintf(out, "%s  %d of %s, %s\n", g.Name, len(g.UsedBy), sanitize.Count(g.Uses, "use"), stateOf(g))
		for _, u := range g.UsedBy {
			fmt.Fprintf(out, "    %s  %s\n", u.Peer, u.Time.Local().Format(time.DateTime))
		}
	}
	return nil
}

func stateOf(g store.Guest) string {
	switch {
	case g.Revoked:
		return "revoked"
	case !time.Now().Before(g.Expires):
		return "expired at " + g.Expires.Local().Format(time.DateTime)
	}
	return "expires at " + g.Expires.Local().Format(time.DateTime)
}

func (o inviteOptions) revokeGuest(command *cobra.Command, t *task.Task) error {
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	if err := store.RevokeGuest(dir, t.ID().String(), o.revoke); errors.Is(err, fs.ErrNotExist) {
		return base.BadUsage(err)
	} else if err != nil {
		return err
	}
	if o.json {
		return base.PrintJSON(command.OutOrStdout(), base.Object{"task": t.ID().String(), "revoked": o.revoke})
	}
	fmt.Fprintf(command.OutOrStdout(), "the string of guest %s admits no further node; those that it admitted keep the invitation\n", o.revoke)
	return nil
}

// writeQR prints a text as a QR code, two rows to a line. In upper case it takes fewer rows.
func writeQR(out io.Writer, text string) error {
	code, err := qr.Encode(strings.ToUpper(text), qr.L)
	if err != nil {
		return fmt.Errorf("QR code: %w", err)
	}
	const margin = 4
	var b strings.Builder
	for y := -margin; y < code.Size+margin; y += 2 {
		for x := -margin; x < code.Size+margin; x++ {
			b.WriteString([]string{"█", "▀", "▄", " "}[bit(code.Black(x, y))*2+bit(code.Black(x, y+1))])
		}
		b.WriteByte('\n')
	}
	_, err = io.WriteString(out, b.String())
	return err
}

func bit(black bool) int {
	if black {
		return 1
	}
	return 0
}
