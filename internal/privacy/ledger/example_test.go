package ledger_test

import (
	"crypto/rand"
	"fmt"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/strategy/all"
)

// A node releases what the task plans, and no more, over restarts too.
func Example() {
	definition, err := all.Strategies().Parse("task.yaml", []byte(`
name: secret
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 16}
strategy: {type: fts}
privacy: {mechanism: local, epsilon: 4, releases: 2}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	account, err := ledger.NewLedger(definition, rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	weights := make([]float64, account.Numbers())
	noisy, number, record, err := account.Release(weights)
	fmt.Println(len(noisy), "weights in release", number, err)
	// Here the record goes to disk, and only then the noisy weights to peers.

	again, err := ledger.NewLedger(definition, rand.Reader) // after a restart
	if err != nil {
		fmt.Println(err)
		return
	}
	again.Replay(record)
	_, number, _, err = again.Release(weights)
	fmt.Println("release", number, err)
	spent, err := again.Spent(again.State().Released)
	fmt.Println("at most epsilon is spent:", spent <= 4, err)
	_, _, _, err = again.Release(weights)
	fmt.Println(again.Open(), err)
	// Output:
	// 16 weights in release 1 <nil>
	// release 2 <nil>
	// at most epsilon is spent: true <nil>
	// false no releases are left
}
