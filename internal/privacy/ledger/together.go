package ledger

import (
	"github.com/fbo-node/fbo/privacy"
)

// Spending is a number of DP releases under the terms of one task.
type Spending struct {
	Terms    Terms
	Releases int
}

// Together returns the ε at delta of all releases of one node under the terms of several tasks
// about the same data. The μ² of Gaussian releases add up. It also returns the adjacency for which
// ε holds: that of all tasks, or zero-out if they differ, because replace-one covers the
// replacement by zeros. Without parts ε is 0.
func Together(delta float64, parts ...Spending) (epsilon float64, adjacency string, err error) {
	common := privacy.ReplaceOne
	for _, part := range parts {
		if part.Releases > 0 && part.Terms.plan.Adjacency != common {
			common = privacy.ZeroOut
		}
	}
	var sum privacy.Loss
	for _, part := range parts {
		if part.Releases == 0 {
			continue
		}
		plan := part.Terms.plan
		plan.Adjacency, plan.Releases = common, part.Releases
		loss, err := plan.Loss(part.Terms.sigma)
		if err == nil {
			sum, err = sum.Plus(loss)
		}
		if err != nil {
			return 0, "", err
		}
	}
	epsilon, err = sum.Epsilon(delta, privacy.Tight)
	if err != nil {
		return 0, "", err
	}
	return epsilon, common.String(), nil
}
