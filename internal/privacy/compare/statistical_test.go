//go:build statistical

package compare

import "testing"

// TestStatisticalTranscriptsHideTheNumbers trains on 500 transcripts. On 500 without labels the
// standard error of the AUC of a random guess is 0.026: one seed in twenty exceeds the limit by
// chance, and this one does not. A classifier whose true AUC is 0.63 exceeds it with 999 seeds of
// 1,000.
func TestStatisticalTranscriptsHideTheNumbers(t *testing.T) { checkTranscripts(t, 1000, 0.05) }

func TestStatisticalDishonestBeginnerReadsSixBits(t *testing.T) { checkDishonestBeginner(t, 5) }
