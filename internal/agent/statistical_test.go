//go:build statistical

package agent

import "testing"

func TestStatisticalExtremeSharesStopNoStrategy(t *testing.T) { checkExtremeShares(t, "bowl", "cup") }
