package task

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	maxRoster        = 1024
	maxSummed        = 30_000  // numbers in a node's vector
	maxHeld          = 8 << 20 // numbers that a member of the committee holds
	maxCommittee     = 64
	defaultCommittee = 7
)

func aggregateKeys() []string { return []string{"roster", "contributors", "committee", "colluding"} }

// aggregate returns who sums. By default committees are of 7, a third of whom may
// collude and a quarter of the roster may be absent.
func (m *mapping) aggregate(t *Task) *Aggregate {
	a := &Aggregate{}
	var ok bool
	if a.Roster, ok = m.roster(); !ok {
		for _, key := range aggregateKeys() {
			m.get(key) // their bounds depend on the roster
		}
		return a
	}
	nodes := len(a.Roster)
	if t.Strategy.FTSDE != nil {
		if numbers := t.Strategy.FTSDE.Cells * t.Surrogate.Features; numbers > maxSummed || numbers*nodes > maxHeld {
			m.errorf(m.valueAt("roster"), "%d nodes with %d numbers each (cells times features) are too much to sum, accepted are up to %d numbers and %d in all", nodes, numbers, maxSummed, maxHeld)
		}
	}
	a.Committee = m.whole("committee", min(defaultCommittee, nodes), 2, min(maxCommittee, nodes))
	a.Colluding = m.whole("colluding", max(1, (a.Committee-1)/3), 1, a.Committee-1)
	// Two sets of more than (C+t)/2 voters share one that does not collude.
	if quorum := (a.Committee+a.Colluding)/2 + 1; quorum > a.Committee {
		m.errorf(m.valueAt("colluding"), "colluding %d leaves no quorum: of a committee of %d it takes %d", a.Colluding, a.Committee, quorum)
	}
	if a.Colluding+1 > nodes {
		return a
	}
	a.Contributors = m.whole("contributors", max(a.Colluding+1, nodes-nodes/4), a.Colluding+1, nodes)
	return a
}

// roster returns the nodes in order, each once.
func (m *mapping) roster() (roster []peer.ID, ok bool) {
	items, ok := m.list("roster")
	if !ok {
		return nil, false
	}
	if n := len(items); n < 2 || n > maxRoster {
		m.errorf(m.valueAt("roster"), "roster must name 2 to %d nodes, not %d", maxRoster, n)
		return nil, false
	}
	for _, n := range items {
		s := m.d.scalar(n)
		id, err := peer.Decode(s.text)
		if s.form != formText || err != nil {
			m.errorf(nodePosition(n), "roster: %s is no peer ID; `fbo-node key` prints a node's", s.describe())
			ok = false
			continue
		}
		if key, err := id.ExtractPublicKey(); err != nil || key.Type() != crypto.Ed25519 {
			m.errorf(nodePosition(n), "roster: %s has no Ed25519 key, accepted are the IDs that `fbo-node key` prints", id)
			ok = false
			continue
		}
		if slices.Contains(roster, id) {
			m.errorf(nodePosition(n), "roster: %s is repeated", id)
			ok = false
		}
		roster = append(roster, id)
	}
	slices.Sort(roster)
	return roster, ok
}

func canonicalAggregate(form map[string]any, a *Aggregate) {
	if a == nil {
		return
	}
	names := make([]string, len(a.Roster))
	for i, id := range a.Roster {
		names[i] = id.String()
	}
	form["roster"], form["contributors"], form["committee"], form["colluding"] = names, a.Contributors, a.Committee, a.Colluding
}
