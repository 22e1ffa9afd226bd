//go:build unix && long

package main_test

import "testing"

func TestLongDamagedJournals(t *testing.T) { testDamagedJournals(t, 80) }
