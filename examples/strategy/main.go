// Command strategy shows how a program brings a strategy of its own: package leader is
// added to those of the project, and two nodes tune with it together. See README.md.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/examples/strategy/leader"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

//go:embed task.yaml
var taskFile []byte

func main() {
	evals := flag.Int("evals", 20, "evaluations of each node")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *evals); err != nil {
		fmt.Fprintln(os.Stderr, "strategy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, evals int) (err error) {
	strategies := append(all.Strategies(), leader.Register())
	t, err := strategies.Parse("task.yaml", taskFile)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fbo-strategy-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	var sessions []*node.Session
	var known []string // addresses of the nodes before
	for _, name := range []string{"first", "second"} {
		n := &node.Node{
			Dir:        filepath.Join(dir, name),
			Listen:     []string{"/ip4/127.0.0.1/udp/0/quic-v1"},
			Peers:      known,
			Strategies: strategies,
		}
		if err := n.Start(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, n.Close()) }()
		session, err := n.Join(ctx, t, node.JoinOptions{OnEvent: func(e node.Event) { show(name, e) }})
		if err != nil {
			return err
		}
		sessions, known = append(sessions, session), n.Addresses()
	}

	for _, session := range sessions {
		if err := meet(ctx, session); err != nil {
			return err
		}
	}
	ended := make(chan error, len(sessions))
	for _, session := range sessions {
		go func() { ended <- session.Run(ctx, rosenbrock, node.RunOptions{Evals: evals}) }()
	}
	for range sessions {
		err = errors.Join(err, <-ended)
	}
	return err
}

// meet waits until the session's node is connected with the other one. Without it the
// nodes help each other as well, from the moment on that they meet: evaluations this
// short may have ended by then.
func meet(ctx context.Context, session *node.Session) error {
	for {
		status, err := session.Status(ctx)
		if err != nil || len(status.TopicPeers) > 0 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// rosenbrock is the function of that name, whose minimum is 0 at (1, 1). It takes a
// moment, as what is worth tuning does.
func rosenbrock(_ context.Context, d task.Design) (float64, error) {
	time.Sleep(20 * time.Millisecond)
	x, y := d.Float("x"), d.Float("y")
	return (1-x)*(1-x) + 100*(y-x*x)*(y-x*x), nil
}

func show(name string, e node.Event) {
	if e.Type == node.TrialFinished && e.Trial.State == strategy.Done {
		fmt.Printf("%-6s %3d  %-9.3g best %-9.3g %s  [%s]\n", name, e.Trial.ID, e.Trial.Outcome.Value, e.Best.Outcome.Value, e.Trial.Design, e.Trial.Why)
	}
}
