//go:build statistical

package search_test

import (
	"testing"

	"pgregory.net/rapid"
)

func TestStatisticalTriedDesignsAreNotSuggested(t *testing.T) {
	checkTried(t, func(t *testing.T, property func(*rapid.T)) { rapid.Check(t, property) })
}

func TestStatisticalStartsAreMoreEvenThanIndependentOnes(t *testing.T) { checkStarts(t, 100) }
