//go:build statistical

package experiment

import "testing"

func TestStatisticalStrategiesFollowFixedHyperparameters(t *testing.T) {
	checkFixedHyperparameters(t, "ts,logei,ucb,mes,fts,peer-prior,consensus,constrained-gp,density,random")
}

func TestStatisticalLiarsJoinTheHonest(t *testing.T) {
	checkLiars(t, "peer-prior", "peer-prior:share=exact", "constrained-gp", "fts")
}
