//go:build unix && long

package main

import "testing"

func TestLongDamagedJournals(t *testing.T) { testDamagedJournals(t, 80) }
