package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

const line = `
name: line
goal: minimize
parameters: [{name: n, type: int, low: 0, high: 9}]
strategy: {type: logei, initial_designs: 2}`

// A driver carries out each Ready in the order of its fields. This one keeps the
// journal in memory and has no network.
func Example() {
	t, err := all.Strategies().Parse("line", []byte(line))
	if err != nil {
		panic(err)
	}
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		panic(err)
	}
	config := agent.Config{Task: t, Strategies: all.Strategies(), Key: key, Seed: random.SeedOf(1)}
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	a, err := agent.New(config, nil, now)
	if err != nil {
		panic(err)
	}

	var journal []agent.Record
	carryOut := func() (answers []agent.Answer) {
		for {
			ready := a.Ready()
			journal = append(journal, ready.Records...)
			answers = append(answers, ready.Answers...)
			for _, work := range ready.Work {
				a.Done(now, work.ID, work.Run(context.Background()))
			}
			if len(ready.Records)+len(ready.Answers)+len(ready.Work) == 0 {
				return answers
			}
		}
	}
	for request := range uint64(3) {
		a.Ask(now, request)
		for _, answer := range carryOut() {
			n := answer.Trial.Design.Int("n")
			if err := a.Tell(now, answer.Trial.ID, strategy.Outcome{Value: float64((n - 4) * (n - 4))}); err != nil {
				panic(err)
			}
			fmt.Println("trial", answer.Trial.ID, answer.Trial.Why)
		}
	}
	carryOut()

	// After a restart the journal brings everything back, under a new epoch.
	again, err := agent.New(config, journal, now)
	if err != nil {
		panic(err)
	}
	fmt.Println("epoch", again.Epoch(), "trials", len(again.Trials()), "same best", again.Best().ID == a.Best().ID)
	// Output:
	// trial 1 random start
	// trial 2 random start
	// trial 3 expected improvement
	// epoch 2 trials 3 same best true
}
