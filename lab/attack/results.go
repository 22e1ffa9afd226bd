package attack

import (
	"context"
	"math/rand/v2"

	"github.com/fbo-node/fbo/protocol"
)

// resultsAttacks returns the reading of shared results, which need no attack: they are the data.
func resultsAttacks() []Attack {
	return []Attack{{Name: "the shared results", Kinds: []string{protocol.ResultsKind}, Scene: Listen,
		Guess: func(_ context.Context, seen *Seen, _ *rand.Rand) (g Guess, err error) {
			all := valuesOf[protocol.Results](seen.Disclosures[0])
			if len(all) == 0 {
				return g, nil
			}
			for _, r := range all[len(all)-1].Results {
				if !r.Failed {
					g.X = append(g.X, r.Point.Encoded(seen.Task.Space))
					g.Y = append(g.Y, seen.Task.Goal.Sign()*r.Value)
				}
			}
			return g, nil
		}}}
}
