package node_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// A node tunes two settings of a machine. Without a peer it tunes alone; Peers
// would hold the addresses that other nodes give by Addresses.
func ExampleSession_Run() {
	dir, err := os.MkdirTemp("", "fbo-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t, err := all.Strategies().Parse("task.yaml", []byte(`
name: oven
goal: minimize
parameters:
  - {name: temperature, type: float, low: 150, high: 250}
  - {name: minutes, type: int, low: 5, high: 40}
`))
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	n := &node.Node{
		Strategies: all.Strategies(),
		Dir:        dir,                                      // keep it: the next start continues from here
		Listen:     []string{"/ip4/127.0.0.1/udp/0/quic-v1"}, // leave it out to be reached by other machines
	}
	if err := n.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	seed := uint64(1) // leave it out for other random decisions every time
	session, err := n.Join(ctx, t, node.JoinOptions{Seed: &seed})
	if err != nil {
		log.Fatal(err)
	}
	err = session.Run(ctx, func(_ context.Context, d task.Design) (float64, error) {
		heat, minutes := d.Float("temperature"), float64(d.Int("minutes"))
		return math.Abs(heat-210)/10 + math.Abs(minutes-18), nil
	}, node.RunOptions{Evals: 20})
	if err != nil {
		log.Fatal(err)
	}

	best, err := session.Best(ctx)
	if err != nil {
		log.Fatal(err)
	}
	status, err := session.Status(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Trials["done"], "evaluations")
	fmt.Println("within 3 of the optimum:", best.Outcome.Value < 3)
	// Output:
	// 20 evaluations
	// within 3 of the optimum: true
}

// Two nodes take part in a task by invitation: without it nobody joins, reads what they
// share, or learns the task's ID. A program takes the text to the other machines by a
// way of its own.
func ExampleJoinOptions_invitation() {
	t, err := all.Strategies().Parse("task.yaml", []byte(`
name: oven
goal: minimize
parameters:
  - {name: temperature, type: float, low: 150, high: 250}
`))
	if err != nil {
		log.Fatal(err)
	}
	text := node.NewInvitation(t.ID()).Text() // once, on one machine

	ctx := context.Background()
	var sessions []*node.Session
	var addresses []string
	for range 2 {
		dir, err := os.MkdirTemp("", "fbo-example")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		invited, err := node.ParseInvitation(text)
		if err != nil {
			log.Fatal(err)
		}
		n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1"}, Peers: addresses}
		if err := n.Start(ctx); err != nil {
			log.Fatal(err)
		}
		defer n.Close()
		addresses = n.Addresses()
		session, err := n.Join(ctx, t, node.JoinOptions{Invitation: &invited}) // later starts need not name it
		if err != nil {
			log.Fatal(err)
		}
		sessions = append(sessions, session)
	}
	for met := false; !met; time.Sleep(10 * time.Millisecond) {
		status, err := sessions[0].Status(ctx)
		if err != nil {
			log.Fatal(err)
		}
		met = len(status.TopicPeers) == 1
	}
	fmt.Println("the same tag:", sessions[0].Tag() == sessions[1].Tag())
	fmt.Println("the task's ID:", sessions[0].Tag() == t.ID())
	// Output:
	// the same tag: true
	// the task's ID: false
}

// An application with a loop of its own asks for trials and tells what came of
// them.
func ExampleSession_Ask() {
	dir, err := os.MkdirTemp("", "fbo-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t, err := all.Strategies().Parse("task.yaml", []byte(`
name: pump
goal: maximize
parameters: [{name: speed, type: float, low: 0, high: 1}]
`))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1"}}
	if err := n.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	session, err := n.Join(ctx, t, node.JoinOptions{})
	if err != nil {
		log.Fatal(err)
	}

	flow := func(trial uint64, speed float64) (float64, error) {
		if trial == 2 {
			return 0, errors.New("the pump ran dry")
		}
		return speed * (1.4 - speed), nil
	}
	for range 3 {
		trial, err := session.Ask(ctx)
		if err != nil {
			log.Fatal(err)
		}
		value, err := flow(trial.ID, trial.Design.Float("speed"))
		if err != nil {
			err = session.Fail(ctx, trial.ID, err.Error()) // never a made-up number
		} else {
			err = session.Tell(ctx, trial.ID, value)
		}
		if err != nil {
			log.Fatal(err)
		}
	}

	trials, err := session.Trials(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, trial := range trials {
		if trial.State == strategy.Failed {
			fmt.Printf("trial %d failed: %s\n", trial.ID, trial.Reason)
			continue
		}
		fmt.Printf("trial %d is %s: %s\n", trial.ID, trial.State, trial.Why)
	}
	err = session.Tell(ctx, 2, 0.5)
	fmt.Println(err, errors.Is(err, node.ErrFinished))
	// Output:
	// trial 1 is done: random start
	// trial 2 failed: the pump ran dry
	// trial 3 is done: random start
	// trial has already ended: trial 2 is failed true
}

// Two nodes in one process, as a simulation or a test has them, share two tasks.
// Only nodes of one task learn from each other.
func Example_severalNodesAndTasks() {
	dir, err := os.MkdirTemp("", "fbo-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	first := &node.Node{Strategies: all.Strategies(), Dir: filepath.Join(dir, "first"), Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1"}}
	if err := first.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	second := &node.Node{
		Strategies: all.Strategies(),
		Dir:        filepath.Join(dir, "second"),
		Listen:     []string{"/ip4/127.0.0.1/udp/0/quic-v1"},
		Peers:      first.Addresses(),
	}
	if err := second.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer second.Close()

	var sessions []*node.Session
	for _, name := range []string{"lathe", "mill"} {
		t, err := all.Strategies().Parse(name+".yaml", fmt.Appendf(nil, `
name: %s
goal: minimize
parameters: [{name: feed, type: float, low: 0, high: 1}]
`, name))
		if err != nil {
			log.Fatal(err)
		}
		for _, n := range []*node.Node{first, second} {
			session, err := n.Join(ctx, t, node.JoinOptions{})
			if err != nil {
				log.Fatal(err)
			}
			sessions = append(sessions, session)
		}
	}
	for _, session := range sessions {
		if err := waitForPeer(ctx, session); err != nil {
			log.Fatal(err)
		}
	}

	ended := make(chan error)
	for _, session := range sessions {
		go func() {
			ended <- session.Run(ctx, func(_ context.Context, d task.Design) (float64, error) {
				return math.Pow(d.Float("feed")-0.3, 2), nil
			}, node.RunOptions{Evals: 5})
		}()
	}
	for range sessions {
		if err := <-ended; err != nil {
			log.Fatal(err)
		}
	}
	for _, session := range sessions {
		status, err := session.Status(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(status.Name, status.Trials["done"], "evaluations,", len(status.Present), "nodes")
	}
	// Output:
	// lathe 5 evaluations, 2 nodes
	// lathe 5 evaluations, 2 nodes
	// mill 5 evaluations, 2 nodes
	// mill 5 evaluations, 2 nodes
}

// waitForPeer returns when another node takes part in the session's task.
func waitForPeer(ctx context.Context, session *node.Session) error {
	for {
		status, err := session.Status(ctx)
		if err != nil || len(status.Present) > 1 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
