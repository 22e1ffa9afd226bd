package trialserver

import (
	"context"
	"errors"

	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/task"
)

// ErrOtherString means that the Server serves the task of a string, and has joined it in another way.
var ErrOtherString = errors.New("this node serves the task already, and has not joined it by this string; to join by it, leave the task first")

// Preview is what a string of `fbo-node task invite` names.
type Preview struct {
	Task    *task.Task
	Open    bool   // every node that knows the task can join it
	Served  bool   // this node serves the task already
	Reveals string // as Task.Reveals
}

// Preview gets the task that a string names, and joins nothing. If the string is a guest's, this takes
// one of its uses for this node, and a later CreateFrom takes no other. Errors are those of CreateFrom.
func (d *Server) Preview(ctx context.Context, text string) (Preview, error) {
	ticket, err := d.parseTicket(text)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Open: ticket.Kind == admission.Open}
	if served, err := d.Task(ticket.Task.String()); err == nil {
		p.Task, p.Served = served.session.Task(), true
	} else if p.Task, _, err = d.request(ctx, ticket); err != nil {
		return Preview{}, err
	}
	p.Reveals = reveals(d.options.Strategies, p.Task)
	return p, nil
}

// CreateFrom is Create for the task that a string of `fbo-node task invite` names, with the other keys
// of an order. It gets the task from a node that works on it, unless the data directory has it. It
// stores what the string holds except for a guest's token, so that later starts need no string.
//
// Errors of the string are of type FieldError, or wrap an admission.Refusal, admission.ErrMalformed or
// node.ErrNoTask. No error has a secret of the string.
func (d *Server) CreateFrom(ctx context.Context, o Order, text string) (t *Task, created bool, err error) {
	ticket, err := d.parseTicket(text)
	if err != nil {
		return nil, false, err
	}
	id := ticket.Task.String()
	if err := d.rejoin(ctx, id); err != nil { // an order that Open has not come to yet
		return nil, false, err
	}
	if t, err := d.Task(id); err == nil {
		return t, false, d.checkSame(t, &ticket)
	}
	asked, by, err := d.request(ctx, ticket)
	if err != nil {
		return nil, false, err
	}
	if asked.Space.Listing() != nil {
		return nil, false, &FieldError{"join", admission.ErrTable}
	}
	if err := d.check(asked); err != nil {
		return nil, false, &FieldError{"join", err}
	}
	o.Text = string(asked.File())
	return d.create(ctx, asked, o, by, &ticket)
}

func (d *Server) parseTicket(text string) (admission.Ticket, error) {
	if d.fixed {
		return admission.Ticket{}, ErrFixed
	}
	ticket, err := admission.Parse(text)
	if err != nil {
		return ticket, &FieldError{"join", err}
	}
	return ticket, nil
}

// request returns the task of a string from the data directory, otherwise from a node that works on it.
func (d *Server) request(ctx context.Context, ticket admission.Ticket) (*task.Task, *invitation.Invitation, error) {
	by, ok, err := store.InvitationOf(d.node.Dir, ticket)
	if err != nil {
		return nil, nil, err
	}
	if ok {
		if h, err := d.node.History(ticket.Task.String()); err == nil { // the join reports damage
			return h.Task, by, nil
		}
	}
	requesting, cancel := context.WithTimeout(ctx, d.options.RequestTime)
	defer cancel()
	t, by, err := d.node.RequestTask(requesting, ticket.Text())
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return t, by, err
}

// checkSame returns an error if a served task was joined in another way than by a string; nil: any way.
func (d *Server) checkSame(t *Task, from *admission.Ticket) error {
	if from == nil {
		return nil
	}
	tag := t.session.Tag()
	same := false
	switch from.Kind {
	case admission.Open:
		same = tag == cid.Undef
	case admission.Member:
		same = tag == from.Name()
	case admission.Guest:
		name, _, _, err := store.JoinAddresses(d.node.Dir, t.id)
		if err != nil {
			return err
		}
		same = tag != cid.Undef && name == from.Name().String()
	}
	if !same {
		return ErrOtherString
	}
	return nil
}
