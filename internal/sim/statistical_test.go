//go:build statistical

package sim_test

import "testing"

func TestStatisticalOptimaInCorners(t *testing.T) {
	checkCorners(t, func(string, string) bool { return true })
}

func TestStatisticalEveryStrategyOnEveryKind(t *testing.T) {
	checkKinds(t, func(string, string) bool { return true })
}

func TestStatisticalEveryStrategyOnDependentParameters(t *testing.T) {
	checkDependents(t, "parameter constraints", "fixed")
}

func TestStatisticalFairBatchesWithAndWithoutAMediator(t *testing.T) {
	checkMediation(t, 12, 8, 6, 0.05)
}

func TestStatisticalMessagesOfFairBatches(t *testing.T) { checkMessages(t, 3, 8) }
