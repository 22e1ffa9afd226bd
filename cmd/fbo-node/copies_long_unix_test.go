//go:build long && unix

package main_test

import (
	"testing"
	"time"
)

// Two copies of a data directory release in parallel, each with one former peer. When the peers
// meet, both copies detect each other and refuse further releases, also after restarts.
func TestLongTwoCopiesWithAPeerEach(t *testing.T) {
	t.Parallel()
	file := manyReleases(t)
	dirs := [2]string{shortTempDir(t), shortTempDir(t)}
	var peers [2]*process
	peers[0] = keeper(t, file, dirs[0])
	peers[1] = keeper(t, file, dirs[1], peers[0])
	c := copyOf(t, file, peers[0], peers[1])
	for i := range peers { // they lose sight of each other
		interrupt(t, peers[i])
	}
	var copies [2]*process
	for i := range peers {
		peers[i] = keeper(t, file, dirs[i])
		copies[i] = c.start(t, i, peers[i])
	}
	for _, p := range copies {
		p.await(t, "its peer", isEvent("peers"))
	}
	time.Sleep(2 * time.Second) // each receives its last release
	c.allow(t, 7)
	for _, p := range copies {
		p.await(t, "a release", func(e event) bool { return e.Event == "share_sent" && e.Kind == "weights" })
	}
	keeper(t, file, shortTempDir(t), peers[0], peers[1])
	c.refused(t, copies)

	before := releasesIn(t, c.dirs[1])
	again := c.start(t, 1, peers[0])
	c.allow(t, 9)
	again.await(t, "nine trials", finishedTrial(9))
	interrupt(t, again)
	// It may publish a released share again when it moves to a new epoch.
	if after := releasesIn(t, c.dirs[1]); after != before {
		t.Errorf("%d releases, %d at the refusal", after, before)
	}
}
