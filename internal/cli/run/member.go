package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
)

// member is a node that takes part in a task, and the servers that answer about it.
type member struct {
	session *node.Session
	metrics *metricsServer // nil unless requested
	page    string         // its link; empty unless requested
	ends    []func() error // in the order of the starts
}

// takePart starts a node, its metrics and its page if addresses are given, and a session. The
// caller closes the member, also after an error.
func takePart(ctx context.Context, n *node.Node, t *task.Task, options node.JoinOptions, metrics, page string, show *display) (m member, err error) {
	if metrics != "" {
		if m.metrics, err = serveMetrics(metrics); err != nil {
			return m, err
		}
		m.ends = append(m.ends, func() error { m.metrics.close(); return nil })
		n.Metrics = m.metrics.registry
	}
	if err := n.Start(ctx); err != nil {
		return m, err
	}
	m.ends = append(m.ends, n.Close)
	events, tell := trialserver.NewEvents(), options.OnEvent
	options.OnEvent = func(e agent.Event) {
		events.Add(e)
		tell(e)
	}
	if m.session, err = n.Join(ctx, t, options); err != nil {
		return m, err
	}
	m.ends = append(m.ends, m.session.Close)
	d := trialserver.Adopted(n, m.session, events)
	m.ends = append(m.ends, func() error { d.Close(); return nil })
	api := apiOf(d, 0, false, show)
	if page != "" {
		p, err := ServePage(ctx, page, n.Dir, api)
		if err != nil {
			return m, err
		}
		m.page = p.Link
		m.ends = append(m.ends, p.Close)
	}
	stop, err := serveControl(n.Dir, api)
	if err != nil {
		show.Warning(fmt.Sprintf("status and history cannot be asked for while this node runs: %v", datadir.Explain(err)))
		return m, nil
	}
	m.ends = append(m.ends, func() error { stop(); return nil })
	return m, nil
}

// endsCommand is for sessions whose failure ends the command, which prints the error then.
func endsCommand(error) {}

// close ends everything and adds errors of closing to err. A session that failed reports its error
// again; one report is enough.
func (m member) close(err error) error {
	for _, end := range slices.Backward(m.ends) {
		if ended := end(); ended != nil && !errors.Is(err, ended) {
			err = errors.Join(err, ended)
		}
	}
	return err
}
