package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/httpapi"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// usersLock is a file in the data directory. The programs that use a node hold a shared lock on it.
const usersLock = "users.lock"

// errUnused is the cause of an end since no program uses the node.
var errUnused = errors.New("no program uses the node")

// serveOptions are the flags of serve.
type serveOptions struct {
	dir             string
	network         networkOptions
	web             webOptions
	lease           time.Duration
	wait            time.Duration
	maxObservations int
	json            bool
	untilEOF        bool
	unused          bool
	metrics         string
	taskLabel       bool
	page            string
	logLevel        string
}

// NewServe returns the command serve.
func NewServe() *cobra.Command {
	var o serveOptions
	command := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Serve trials of any number of tasks to other programs, over HTTP",
		Long: `Serve trials of any number of tasks to other programs, over HTTP with JSON.

A program creates a task from the text of a task file, asks for trials, evaluates them
and report what they measured. Tasks, trials and who evaluates them survive the end of
this process: start it again with the same data directory. docs/http.md has an example.

It listens on control.sock in the data directory, which only its owner can reach. With
--http it listens on a port too, for programs that have the token in http.token there.
With --vizier it serves programs that use the client of OSS Vizier (docs/vizier.md).`,
		Example: `  fbo-node serve
  fbo-node serve --http 127.0.0.1:7070
  curl --unix-socket ~/.local/share/fbo/control.sock http://node/v1/tasks`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error { return o.run(command.Context()) },
	}
	base.AddDataDir(command, &o.dir)
	addNetwork(command, &o.network)
	o.web.add(command.Flags())
	command.Flags().DurationVar(&o.lease, "lease", httpapi.DefaultLease, "time without a sign of life of a client, after which another one gets its trials; clients may ask for another")
	command.Flags().DurationVar(&o.wait, "wait-for-peers", node.DefaultWait, "time that the first design of a new task waits at most for what peers know; 0: not at all")
	addMaxObservations(command.Flags(), &o.maxObservations)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object per event")
	command.Flags().BoolVar(&o.untilEOF, "until-eof", false, "end when standard input ends, and so with the program that holds its other end")
	command.Flags().BoolVar(&o.unused, "until-unused", false, "end when no program holds a shared lock (flock) on "+usersLock+" in the data directory")
	command.Flags().StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at this address, such as 127.0.0.1:9464 (default: not)")
	command.Flags().BoolVar(&o.taskLabel, "metrics-task-label", false, "give each task metrics of its own, with the label task, instead of sums over all tasks")
	addPage(command.Flags(), &o.page)
	base.AddLogLevel(command, &o.logLevel)
	base.FromEnvironment(command, "http", "http-host", "origin", "tls-cert", "tls-key", "rate-limit", "vizier", "vizier-token", "lease", "wait-for-peers", "max-observations", "json", "metrics", "metrics-task-label", "web")
	return command
}

func (o serveOptions) validate() error {
	switch {
	case o.lease < time.Second:
		return base.Usagef("--lease %v: expected times from 1s, such as 10m", o.lease)
	case o.taskLabel && o.metrics == "":
		return base.Usagef("--metrics-task-label needs --metrics")
	case o.wait < 0:
		return base.Usagef("--wait-for-peers %v: expected positive times such as 10s (0: not at all)", o.wait)
	}
	for _, err := range []error{checkMaxObservations(o.maxObservations), o.network.validate(), o.web.validate(), checkMetricsAddress(o.metrics), checkPage(o.page)} {
		if err != nil {
			return err
		}
	}
	return base.SetLogLevel(o.logLevel)
}

func (o serveOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	allowed, err := base.ReadAllow(o.network.allow)
	if err != nil {
		return err
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	show := newDisplay(os.Stdout, nil, o.json)
	if o.untilEOF {
		ctx = untilEOF(ctx, os.Stdin)
	}
	if o.unused {
		unused, release, err := untilUnused(ctx, dir)
		if err != nil {
			return err
		}
		defer release()
		ctx = unused
	}
	n := o.network.node(dir, allowed, show.Warning)
	n.MaxObservations = o.maxObservations
	err = o.serve(ctx, n, show)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		show.interrupted()
		return nil
	}
	return err
}

// untilEOF ends the context that it returns with what it reads, too.
func untilEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, r) // an error ends it as well
	}()
	return ctx
}

// serve runs until the context ends. It then closes in order: clients that read events or wait for
// trials first, then the node.
func (o serveOptions) serve(ctx context.Context, n *node.Node, show *display) (err error) {
	var ends []func() error
	defer func() {
		for _, end := range slices.Backward(ends) {
			err = errors.Join(err, end())
		}
	}()
	var counter *httpaccess.Counter
	if o.metrics != "" {
		metrics, err := serveMetrics(o.metrics)
		if err != nil {
			return err
		}
		ends = append(ends, func() error { metrics.close(); return nil })
		n.Metrics, n.SumMetrics = metrics.registry, !o.taskLabel
		if counter, err = httpaccess.NewCounter(metrics.registry); err != nil {
			return err
		}
		show.metrics(metrics.url())
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	ends = append(ends, n.Close)
	start := &startReport{display: show, node: n, known: map[string]*task.Task{}}
	d, err := trialserver.New(n, trialserver.Options{
		Strategies: all.Strategies(), Wait: o.waiting(), OnWarning: show.Warning,
		Check:  func(t *task.Task) error { return checkRoster(t, n.Dir) },
		OnJoin: func(session *node.Session) { start.join(ctx, session) },
		OnLeave: func(t *task.Task) {
			show.PrintLine(base.Object{"event": "task_left", "task": t.ID().String(), "name": t.Name}, "task %q (%s) is left", t.Name, t.ID())
		},
	})
	if err != nil {
		return err
	}
	w, err := o.web.listen(n.Dir)
	if err != nil {
		return err
	}
	api := apiOf(d, o.lease, o.unused, show)
	failed := w.serve(ctx, api, counter)
	ends = append(ends, w.close, func() error { d.Close(); return nil })
	start.web = w
	vizier, vizierFailed, err := o.web.serveVizier(ctx, d, counter)
	if err != nil {
		return err
	}
	if vizier != nil {
		ends = append(ends, vizier.close)
		start.vizier = vizier.url
		w.warnings = append(w.warnings, vizier.warnings...)
	}
	start.listening(d.Count())
	if o.page != "" {
		page, err := ServePage(ctx, o.page, n.Dir, api)
		if err != nil {
			return err
		}
		ends = append(ends, page.Close)
		show.page(page.Link)
	}
	opening, stop := context.WithCancel(ctx) // a variable of its own: OnJoin reads ctx in other goroutines
	opened := make(chan error, 1)
	ends = append(ends, func() error { stop(); <-opened; return nil })
	go func() {
		defer close(opened)
		if err := d.Open(opening); err == nil {
			start.end(d.Count())
		}
	}()
	select {
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errUnused) {
			return errors.Join(endLeases(d), ctx.Err())
		}
		return ctx.Err()
	case err := <-failed:
		return err
	case err := <-vizierFailed:
		return err
	}
}

// endLeases ends the leases of all tasks: the programs that held their trials have ended.
func endLeases(d *trialserver.Server) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, t := range d.Tasks() {
		err = errors.Join(err, t.Session().Clients().EndLeases(ctx))
	}
	return err
}

// waiting is node.JoinOptions.Wait, of which 0 means the default.
func (o serveOptions) waiting() time.Duration {
	if o.wait == 0 {
		return -1
	}
	return o.wait
}

// maxAtStart is how many tasks a start names, one line each.
const maxAtStart = 10

// startReport shows what serve listens on and which tasks it joins: those of the last start in
// one line each up to maxAtStart, later ones in full.
type startReport struct {
	*display
	node *node.Node
	web  *web

	vizier string // address of the service of OSS Vizier; empty without it

	mu      sync.Mutex
	ready   bool
	joined  int
	private []*task.Task          // of the last start, with a promise of privacy
	known   map[string]*task.Task // by ID: those that were joined, and others that pastsLike has read
}

// listening is what serve prints when it listens. It leaves out the token: the output may be stored
// where others can read it.
func (r *startReport) listening(tasks int) {
	lines := []string{fmt.Sprintf("node %s, data in %s", r.node.ID(), r.node.Dir)}
	if r.web.socket != "" {
		lines = append(lines, "programs of this user ask it over "+r.web.socket)
	}
	if r.web.url != "" {
		lines = append(lines, fmt.Sprintf("programs that have the token in %s ask it at %s", filepath.Join(r.node.Dir, tokenFile), r.web.url))
	}
	if r.vizier != "" {
		lines = append(lines, "programs with the client of OSS Vizier ask it at "+r.vizier)
	}
	if tasks > 0 {
		lines = append(lines, fmt.Sprintf("starting: 0 of %d", tasks))
	}
	r.PrintLine(r.event("listening", tasks), "%s", text(lines))
	for _, warning := range r.web.warnings {
		r.Warning(warning)
	}
}

func (r *startReport) event(name string, tasks int) base.Object {
	event := base.Object{"event": name, "peer_id": r.node.ID().String(), "addresses": r.node.Addresses(), "data_dir": r.node.Dir, "tasks": tasks}
	if r.web.socket != "" {
		event["socket"] = r.web.socket
	}
	if r.web.url != "" {
		event["url"] = r.web.url
	}
	if r.vizier != "" {
		event["vizier"] = r.vizier
	}
	return event
}

// join reports a task that is joined: the task, the members that can take part, the shared data,
// and this node's earlier shares of the same data.
func (r *startReport) join(ctx context.Context, session *node.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := newDisplay(r.Out, session.Task(), r.JSON)
	lines := one.hello(r.node)[:1]
	if r.ready {
		lines = append(lines, one.terms(ctx, r.node, session)...)
	} else if r.joined++; r.joined > maxAtStart {
		lines = nil
	}
	served := base.Object{"event": "task_served", "task": one.Task.ID().String(), "name": one.Task.Name, "open": isOpen(r.node, session), "tag": tagOf(session)}
	if lines == nil {
		r.PrintLine(served, "")
	} else {
		r.PrintLine(served, "%s", text(lines))
	}
	r.known[one.Task.ID().String()] = one.Task
	switch {
	case one.Task.Privacy == nil && !base.RegistrationOf(one.Task).Disclosure(one.Task).Coarse:
	case r.ready:
		if shared := past.DisclosuresOf(one.Task, r.pastsLike(one.Task), nil); shared != nil {
			for _, line := range shared.Lines() {
				r.Warning(line)
			}
		}
	case one.Task.Privacy != nil:
		r.private = append(r.private, one.Task)
	}
}

// pastsLike returns the tasks that may have shared what a new task shares too. It reads the trials
// of no others: there may be a thousand.
func (r *startReport) pastsLike(t *task.Task) []past.History {
	pasts := past.OfNode(r.node, func(id string) bool {
		other := r.known[id]
		return other != nil && t.Privacy == nil && coarsen.DisclosesMore(other.Space, t.Space) == nil
	})
	for _, p := range pasts {
		r.known[p.Task.ID().String()] = p.Task
	}
	return pasts
}

// end reports that the tasks of the last start are joined.
func (r *startReport) end(tasks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = true
	line := "serves " + sanitize.Count(tasks, "task")
	if more := r.joined - maxAtStart; more > 0 {
		line += fmt.Sprintf(", these and %d more; `fbo-node status` lists them", more)
	}
	r.PrintLine(r.event("serving", tasks), "%s", line)
	if len(r.private) == 0 {
		return
	}
	pasts, repeated := past.OfNode(r.node, func(string) bool { return false }), 0
	for _, t := range r.private {
		if past.DisclosuresOf(t, pasts, nil) != nil {
			repeated++
		}
	}
	if repeated > 0 {
		r.Warning(fmt.Sprintf("%s share data that other tasks of this node share too; `fbo-node privacy TASK` has the sum of what is spent", sanitize.Count(repeated, "task")))
	}
}
