//go:build statistical

package experiment

import "testing"

func TestStatisticalStrategiesFollowFixedHyperparameters(t *testing.T) {
	checkFixedHyperparameters(t, "ts,logei,ucb,mes,fts,peer-prior,consensus,constrained-gp,density,random")
}

func TestStatisticalAdversariesJoinTheHonest(t *testing.T) {
	checkAdversaries(t, "peer-prior", "peer-prior:share=exact", "constrained-gp", "fts")
}
