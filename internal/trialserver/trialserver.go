package trialserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/eventlog"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Errors of a Server.
var (
	// ErrUnknownTask: the Server does not serve it.
	ErrUnknownTask = errors.New("this node does not serve the task")
	// ErrFixed: the Server belongs to a run, which has one task.
	ErrFixed = errors.New("this node runs one task; `fbo-node serve` takes others")
	// ErrTooMany: the Server serves MaxTasks tasks.
	ErrTooMany = fmt.Errorf("this node serves %d tasks, which is the most", MaxTasks)
)

// StartingError means that the node has not yet rejoined all tasks that it served before its restart.
type StartingError struct {
	Joined int // number of joined tasks, including those that cannot be joined
	All    int
}

func (e *StartingError) Error() string { return fmt.Sprintf("starting: %d of %d", e.Joined, e.All) }

// MaxTasks is the maximum number of tasks that a Server serves.
const MaxTasks = 1000

// keptEvents is the number of events of each task that are kept.
const keptEvents = 1000

// Events are the numbered events of a task's agent.
type Events struct{ *eventlog.Log[agent.Event] }

// Add adds an event other than presence, which is reported every few seconds.
func (e Events) Add(event agent.Event) {
	if event.Kind != presence.Kind {
		e.Log.Add(event)
	}
}

// NewEvents returns a log whose numbers follow those of earlier starts, as far as clocks go
// forward. For a reader from before a restart, its last event is then an old one.
func NewEvents() Events {
	return Events{eventlog.New[agent.Event](keptEvents, uint64(time.Now().UnixMilli())<<12)}
}

// Options are the options of a Server.
type Options struct {
	Strategies strategy.Set // for parsing orders

	// Check, if not nil, returns an error for a task that this node cannot serve.
	Check func(*task.Task) error

	// Wait is node.JoinOptions.Wait.
	Wait time.Duration

	// OnJoin and OnLeave, when they are set, are called for tasks that are joined and left.
	OnJoin  func(*node.Session)
	OnLeave func(*task.Task)

	// OnWarning receives warnings for the user. It must not block.
	OnWarning func(string)

	// RequestTime is the maximum time in which the Server gets the task of a string; default a minute.
	RequestTime time.Duration

	// Patience is the time without an answer to an Ask after which the Server warns; default 20 s.
	Patience time.Duration
}

const (
	defaultPatience    = 20 * time.Second
	defaultRequestTime = time.Minute
)

func (o Options) withDefaults() Options {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.RequestTime == 0 {
		o.RequestTime = defaultRequestTime
	}
	if o.OnWarning == nil {
		o.OnWarning = func(string) {}
	}
	return o
}

// Server serves tasks of one node. Its methods may be called from any goroutine.
type Server struct {
	node    *node.Node
	options Options
	fixed   bool
	served  int // number of tasks that the last start had served and not left

	joining sync.Mutex // held while a task is joined or left
	mu      sync.Mutex
	tasks   map[string]*Task
	pending []string // IDs of served tasks that are not joined yet
}

// New returns a Server of the tasks that the node has served and not left. Open joins them.
func New(n *node.Node, options Options) (*Server, error) {
	ids, err := listServed(n.Dir)
	if err != nil {
		return nil, err
	}
	return &Server{node: n, options: options.withDefaults(), served: len(ids), tasks: map[string]*Task{}, pending: ids}, nil
}

// Open joins the tasks of the last start. A task that cannot be joined is skipped with a warning;
// its order stays. The other methods work meanwhile.
func (d *Server) Open(ctx context.Context) error {
	for {
		id, ok := d.nextPending()
		if !ok {
			return nil
		}
		err := d.rejoin(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			d.options.OnWarning(fmt.Sprintf("task %s is not served: %v", id, err))
		}
	}
}

func (d *Server) nextPending() (id string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == 0 {
		return "", false
	}
	return d.pending[0], true
}

// Starting returns the progress of Open; nil if all tasks are joined.
func (d *Server) Starting() *StartingError {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.starting()
}

func (d *Server) starting() *StartingError {
	if len(d.pending) == 0 {
		return nil
	}
	return &StartingError{d.served - len(d.pending), d.served}
}

// rejoin joins a task by its order, unless it is joined already.
func (d *Server) rejoin(ctx context.Context, id string) error {
	d.joining.Lock()
	defer d.joining.Unlock()
	if !d.isPending(id) {
		return nil
	}
	defer d.notPending(id)
	t, o, err := readServed(d.node.Dir, id, d.options.Strategies)
	if err != nil {
		return err
	}
	session, err := d.join(ctx, t, o, nil, nil)
	if err == nil {
		d.joined(session)
	}
	return err
}

func (d *Server) isPending(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.pending, id)
}

func (d *Server) notPending(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = slices.DeleteFunc(d.pending, func(other string) bool { return other == id })
}

func (d *Server) joined(session *node.Session) {
	if d.options.OnJoin != nil {
		d.options.OnJoin(session)
	}
}

// Adopted returns a Server for the one task of a session, which the caller closes.
func Adopted(n *node.Node, session *node.Session, events Events) *Server {
	d := &Server{node: n, fixed: true, options: Options{OnWarning: n.OnWarning}.withDefaults()}
	t := d.newTask(session, events)
	d.tasks = map[string]*Task{t.id: t}
	return d
}

// Node returns the node that serves.
func (d *Server) Node() *node.Node { return d.node }

// Create joins a task until Leave, also after restarts. created is false for a task that is served
// already; its order stays as it was. Errors of the order are of type FieldError.
func (d *Server) Create(ctx context.Context, o Order, invited string) (t *Task, created bool, err error) {
	if d.fixed {
		return nil, false, ErrFixed
	}
	asked, err := o.parse(d.options.Strategies)
	if err != nil {
		return nil, false, err
	}
	if err := d.check(asked); err != nil {
		return nil, false, &FieldError{"text", err}
	}
	var by *invitation.Invitation
	if invited != "" {
		i, err := invitation.Parse(invited)
		if err == nil && i.Task() != asked.ID() {
			err = fmt.Errorf("it invites to task %v, not to %v", i.Task(), asked.ID())
		}
		if err != nil {
			return nil, false, &FieldError{"invitation", err}
		}
		by = &i
	}
	return d.create(ctx, asked, o, by, nil)
}

// check returns an error for a task that this node cannot serve.
func (d *Server) check(asked *task.Task) error {
	if l := asked.Space.Listing(); l.Absent() {
		return errors.New("it has the digest of a table of designs and not the table, which a node needs to choose")
	}
	if d.options.Check != nil {
		return d.options.Check(asked)
	}
	return nil
}

// create joins a task that has been checked, by a string or, if it is nil, without.
func (d *Server) create(ctx context.Context, asked *task.Task, o Order, by *invitation.Invitation, from *admission.Ticket) (t *Task, created bool, err error) {
	if _, err := o.options(asked); err != nil {
		return nil, false, err
	}
	id := asked.ID().String()
	if err := d.rejoin(ctx, id); err != nil { // an order that Open has not come to yet
		return nil, false, err
	}
	d.joining.Lock()
	defer d.joining.Unlock()
	if t, err := d.Task(id); err == nil {
		return t, false, d.checkSame(t, from)
	}
	if d.Count() >= MaxTasks {
		return nil, false, ErrTooMany
	}
	session, err := d.join(ctx, asked, o, by, from)
	if err != nil {
		return nil, false, err
	}
	// Stored after it is joined, so that a task that cannot be joined is not tried for ever. If the
	// process ends in between, nothing was acknowledged.
	if from != nil {
		err = store.KeepTicketAddresses(d.node.Dir, *from)
	}
	if err == nil {
		err = writeServed(d.node.Dir, asked, o)
	}
	if err != nil {
		return nil, false, errors.Join(err, d.remove(id).Close())
	}
	d.joined(session)
	t, err = d.Task(id)
	return t, true, err
}

// join joins a task at the addresses of a string, which is nil if there is none. Then it joins at those
// of the string by which the data directory has joined the task earlier.
func (d *Server) join(ctx context.Context, t *task.Task, o Order, by *invitation.Invitation, from *admission.Ticket) (*node.Session, error) {
	options, err := o.options(t)
	if err != nil {
		return nil, err
	}
	if from != nil {
		options.Hubs, options.Peers = from.Hubs, from.Peers
	} else if _, options.Hubs, options.Peers, err = store.JoinAddresses(d.node.Dir, t.ID().String()); err != nil {
		return nil, err
	}
	events := NewEvents()
	options.Wait, options.Invitation, options.OnEvent = d.options.Wait, by, events.Add
	session, err := d.node.Join(ctx, t, options)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	joined := d.newTask(session, events)
	d.tasks[joined.id] = joined
	return session, nil
}

func (d *Server) remove(id string) *node.Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[id]
	delete(d.tasks, id)
	t.events.Close()
	return t.session
}

// Leave ends the node's part in a task. Its journal stays, and Create continues from it.
func (d *Server) Leave(wanted string) error {
	if d.fixed {
		return ErrFixed
	}
	d.joining.Lock()
	defer d.joining.Unlock()
	t, err := d.Task(wanted)
	if err != nil {
		return err
	}
	if err := forgetServed(d.node.Dir, t.id); err != nil {
		return err
	}
	session := d.remove(t.id)
	if d.options.OnLeave != nil {
		d.options.OnLeave(session.Task())
	}
	return session.Close()
}

// Task returns the served task that taskref.Find finds. Its error wraps ErrUnknownTask.
func (d *Server) Task(wanted string) (*Task, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t, ok := d.tasks[wanted]; ok {
		return t, nil
	}
	if starting := d.starting(); starting != nil { // another task may have the name too
		return nil, starting
	}
	found, err := taskref.Find(d.refs(), wanted)
	if errors.Is(err, taskref.ErrAmbiguous) {
		return nil, fmt.Errorf("%w by this reference: %w", ErrUnknownTask, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %.100q; expected %s", ErrUnknownTask, wanted, taskref.Accepted)
	}
	return d.tasks[found.ID], nil
}

// refs must be called with mu held.
func (d *Server) refs() (refs []taskref.Ref) {
	for _, id := range slices.Sorted(maps.Keys(d.tasks)) {
		refs = append(refs, taskref.Ref{ID: id, Name: d.tasks[id].session.Task().Name})
	}
	return refs
}

// Count returns the number of served tasks, including those that are not joined yet.
func (d *Server) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.tasks) + len(d.pending)
}

// Tasks lists the served tasks that are joined, by ID.
func (d *Server) Tasks() []*Task {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*Task, 0, len(d.tasks))
	for _, t := range d.tasks {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *Task) int { return strings.Compare(a.id, b.id) })
	return all
}

// Close ends the event logs, so that their readers end. The node closes the sessions.
func (d *Server) Close() {
	for _, t := range d.Tasks() {
		t.events.Close()
	}
}
