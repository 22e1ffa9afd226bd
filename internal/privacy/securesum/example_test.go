package securesum_test

import (
	"crypto/rand"
	"fmt"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/strategy"
)

// Three agents learn the sum of their vectors, and none another's. A real driver
// carries messages over encrypted streams and has records on disk before it
// sends anything; here all is handed on at once.
func Example() {
	keys := map[peer.ID]crypto.PrivKey{}
	var roster []peer.ID
	for range 3 {
		key, _, _ := crypto.GenerateEd25519Key(rand.Reader)
		id, _ := peer.IDFromPrivateKey(key)
		keys[id], roster = key, append(roster, id)
	}
	committee, _ := securesum.NewCommittee(3, 1)
	agents := map[peer.ID]*securesum.Exchange{}
	var carry func(from peer.ID, outputs []strategy.Output)
	carry = func(from peer.ID, outputs []strategy.Output) {
		for _, output := range outputs {
			switch output := output.(type) {
			case strategy.Send:
				carry(output.To, agents[output.To].Step(strategy.View{}, strategy.Direct{From: from, Data: output.Data}))
			case strategy.Result:
				if outcome := output.Value.(securesum.Outcome); from == roster[0] {
					fmt.Println("round", outcome.Round, "sum", outcome.Sum, "of", len(outcome.Contributors))
				}
			}
		}
	}
	for _, id := range roster {
		exchange, err := securesum.New(securesum.Config{
			Task: cid.MustParse("bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"),
			Self: id, Roster: roster, Committee: committee, MinContributors: 3, Dimension: 2, Rounds: 20,
			Random: rand.Reader, Sign: securesum.Signer(keys[id]), Verify: securesum.Verify,
		})
		if err != nil {
			panic(err)
		}
		agents[id] = exchange
		exchange.Step(strategy.View{}, strategy.Start{})
	}
	for i, id := range roster {
		round, _ := agents[id].Next()
		outputs, err := agents[id].Contribute(round, []int64{int64(i), -100})
		if err != nil {
			panic(err)
		}
		carry(id, outputs)
	}
	// Output: round 1 sum [3 -300] of 3
}
