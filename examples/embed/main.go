// Command embed shows how an edge application carries a node within itself: it
// tunes the fan controller of a simulated electronics cabinet, together with
// other cabinets that run the same program. See README.md.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// The task is part of the program, so that all devices have the same.
//
//go:embed task.yaml
var taskFile []byte

// trialTimeout ends a measurement that hangs.
const trialTimeout = time.Minute

// list is a flag that may be repeated.
type list []string

func (l *list) String() string         { return strings.Join(*l, " ") }
func (l *list) Set(value string) error { *l = append(*l, value); return nil }

type options struct {
	dir    string
	peers  list
	listen list
	evals  int
	seed   uint64
	device uint64
	pace   time.Duration
	loop   bool
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "directory of this node's identity and journal (required)")
	flag.Var(&o.peers, "peer", "address of another node, as it prints it, repeatable")
	flag.Var(&o.listen, "listen", "multiaddress to listen on, repeatable (default any free port)")
	flag.IntVar(&o.evals, "evals", 30, "evaluations in all, earlier runs included; 0: until Ctrl-C")
	flag.Uint64Var(&o.seed, "seed", 0, "make the random decisions and the noise repeatable; 0: different every time")
	flag.Uint64Var(&o.device, "device", 1, "which device this is; each is a little different")
	flag.DurationVar(&o.pace, "pace", 300*time.Millisecond, "real time that one evaluation takes")
	flag.BoolVar(&o.loop, "loop", false, "use Run, which has the loop in it, instead of Ask and Tell")
	flag.Parse()
	if o.dir == "" || flag.NArg() > 0 || o.evals < 0 {
		fmt.Fprintln(os.Stderr, "usage: embed --dir DIRECTORY [flags]; --help lists them")
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := o.tune(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

// tune runs a node until the budget is used up or the context ends.
func (o options) tune(ctx context.Context) (err error) {
	strategies := all.Strategies()
	t, err := strategies.Parse("task.yaml", taskFile)
	if err != nil {
		return err
	}
	n := &node.Node{
		Dir:        o.dir,
		Peers:      o.peers,
		Listen:     o.listen,
		Strategies: strategies,
		OnWarning:  func(message string) { fmt.Println("warning:", message) },
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }() // hands back a trial that still runs
	join := node.JoinOptions{OnEvent: show}
	if o.seed != 0 {
		join.Seed = &o.seed
	}
	session, err := n.Join(ctx, t, join)
	if err != nil {
		return err
	}
	for _, address := range n.Addresses() {
		fmt.Println("others reach this device with --peer", address)
	}

	ended, err := countEnded(ctx, session)
	if err != nil {
		return err
	}
	if ended > 0 {
		fmt.Println("continuing after", ended, "evaluations")
	}

	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go watchPeers(watching, session)
	if o.loop {
		err = o.runLoop(ctx, session)
	} else {
		err = o.askAndTell(ctx, session)
	}
	stopWatching()
	if ctx.Err() != nil {
		fmt.Println("stopped; the same command continues from here")
		err = nil
	}
	return errors.Join(err, report(context.WithoutCancel(ctx), session))
}

// askAndTell is for applications that have a loop of their own.
func (o options) askAndTell(ctx context.Context, session *node.Session) error {
	ended, err := countEnded(ctx, session)
	if err != nil {
		return err
	}
	for ; o.evals == 0 || ended < o.evals; ended++ {
		trial, err := session.Ask(ctx)
		if err != nil {
			return err
		}
		measuring, cancel := context.WithTimeoutCause(ctx, trialTimeout,
			fmt.Errorf("no result within %v", trialTimeout))
		value, err := o.measure(measuring, trial)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err() // not the device's fault: Close hands the trial back
		}
		// A call of Tell or Fail returns after its report is on disk: a power cut loses no
		// result, and Ask returns the interrupted trial again.
		if err != nil {
			err = session.Fail(ctx, trial.ID, err.Error())
		} else {
			err = session.Tell(ctx, trial.ID, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o options) runLoop(ctx context.Context, session *node.Session) error {
	return session.RunTrials(ctx, func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
		value, err := o.measure(ctx, trial)
		return strategy.Outcome{Value: value}, err
	}, node.RunOptions{Evals: o.evals, TrialTimeout: trialTimeout})
}

// measure tries settings on the device.
func (o options) measure(ctx context.Context, trial strategy.Trial) (float64, error) {
	noise := rand.NewPCG(rand.Uint64(), 0)
	if o.seed != 0 {
		noise = rand.NewPCG(o.seed, trial.ID)
	}
	return newCabinet(o.device).score(ctx, settings{
		gain:         trial.Design.Float("gain"),
		integralTime: trial.Design.Float("integral_time"),
		mode:         trial.Design.Choice("mode"),
	}, o.pace, rand.New(noise))
}

// countEnded returns how many evaluations earlier runs have made.
func countEnded(ctx context.Context, session *node.Session) (ended int, err error) {
	trials, err := session.Trials(ctx)
	for _, trial := range trials {
		if trial.State == strategy.Done || trial.State == strategy.Failed {
			ended++
		}
	}
	return ended, err
}

// show prints an event of the session.
func show(e node.Event) {
	switch e.Type {
	case node.Warning:
		fmt.Println("warning:", e.Message)
	case node.TrialFinished:
		result := "failed: " + e.Trial.Reason
		if e.Trial.State == strategy.Done {
			result = fmt.Sprintf("%.4g", e.Trial.Outcome.Value)
		}
		fmt.Printf("trial %d: %s; %v (%v)\n", e.Trial.ID, result, e.Trial.Design, e.Trial.Why)
	}
}

// watchPeers prints the number of other devices on the task whenever it changes.
func watchPeers(ctx context.Context, session *node.Session) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for others := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		status, err := session.Status(ctx)
		if err != nil {
			return
		}
		if now := max(0, len(status.Present)-1); now != others { // Present counts this device
			fmt.Println("other devices:", now)
			others = now
		}
	}
}

func report(ctx context.Context, session *node.Session) error {
	trials, err := session.Trials(ctx)
	if err != nil {
		return err
	}
	best, err := session.Best(ctx)
	if err != nil {
		return err
	}
	fmt.Println(tally(trials))
	if best != nil {
		fmt.Printf("best: %.4g with %v\n", best.Outcome.Value, best.Design)
	}
	return nil
}

// tally states how many trials there are, and how many designs used shares of other devices.
func tally(trials []strategy.Trial) string {
	fromPeers, failed := 0, 0
	for _, trial := range trials {
		if trial.Why.FromPeers() {
			fromPeers++
		}
		if trial.State == strategy.Failed {
			failed++
		}
	}
	return fmt.Sprintf("%d trials, %d failed, %d designs with the help of other devices", len(trials), failed, fromPeers)
}
