package task

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	maxRoster        = 1024
	maxIDText        = 128     // characters of a peer ID; decoding a longer text would be slow
	maxSummed        = 30_000  // numbers in the vector of one node
	maxHeld          = 8 << 20 // numbers that a member of the committee stores from all nodes
	maxCommittee     = 64
	defaultCommittee = 7
)

func aggregateKeys() []string {
	return []string{"roster", "min_contributors", "committee", "max_colluding"}
}

// SumRules are the requirements on the nodes of a task that compute sums together.
type SumRules struct {
	Nodes   int    // minimum length of the roster
	Honest  int    // minimum number of contributors of a sum beyond max_colluding
	Because string // reason for Honest, as the end of an error message
	Most    bool   // by default, a sum has at least three quarters of the roster, and otherwise as few contributors as allowed
}

// noisy are the rules of mechanism aggregate.
func noisy() SumRules {
	return SumRules{Nodes: 2, Honest: 1, Because: "since the noise of colluding nodes gives no privacy", Most: true}
}

// aggregate reads the keys of mechanism aggregate.
func (m *Section) aggregate(t *Task) *Aggregate {
	return m.sumKeys(noisy(), func(nodes int) { m.summed(t, nodes) })
}

// Aggregate reads the keys about the nodes that compute sums: roster, min_contributors, committee and
// max_colluding. By default the committee has 7 nodes, of which fewer than a third may collude.
func (m *Section) Aggregate(rules SumRules) *Aggregate { return m.sumKeys(rules, func(int) {}) }

// sumKeys implements Aggregate. check gets the length of the roster, before the other keys are read.
func (m *Section) sumKeys(rules SumRules, check func(nodes int)) *Aggregate {
	a := &Aggregate{}
	var ok bool
	a.Roster, ok = m.Roster(maxRoster)
	nodes := len(a.Roster)
	check(nodes)
	if ok && nodes < rules.Nodes {
		m.Errorf("roster", "roster must name %d to %d nodes, not %d", rules.Nodes, maxRoster, nodes)
		ok = false
	}
	if !ok {
		for _, key := range aggregateKeys() {
			m.get(key) // the key's bounds depend on the roster
		}
		return a
	}
	before := len(m.d.errors)
	a.Committee = m.Whole("committee", min(defaultCommittee, nodes), 2, maxCommittee)
	if a.Committee > nodes {
		m.Errorf("committee", "committee %d must be at most the %d nodes of the roster", a.Committee, nodes)
	}
	a.MaxColluding = m.Whole("max_colluding", max(1, (a.Committee-1)/3), 1, maxCommittee-1)
	// Let C be the size of the committee and t the number of colluding nodes. Any two sets of more
	// than (C+t)/2 voters share a voter that does not collude. A committee has enough voters for
	// such a set as long as t < C.
	if len(m.d.errors) == before && a.MaxColluding >= a.Committee {
		m.Errorf("max_colluding", "max_colluding %d must be less than the %d nodes of the committee, or no quorum is left", a.MaxColluding, a.Committee)
	}
	usual := a.MaxColluding + rules.Honest
	if rules.Most {
		usual = max(usual, nodes-nodes/4)
	}
	a.MinContributors = m.Whole("min_contributors", min(nodes, usual), 2, maxRoster)
	switch {
	case a.MinContributors > nodes:
		m.Errorf("min_contributors", "min_contributors %d must be at most the %d nodes of the roster", a.MinContributors, nodes)
	case len(m.d.errors) == before && a.MinContributors < a.MaxColluding+rules.Honest:
		m.Errorf("min_contributors", "min_contributors %d must be %s max_colluding, %d, %s", a.MinContributors, rules.beyond(), a.MaxColluding, rules.Because)
	}
	return a
}

// beyond returns the words that compare min_contributors with max_colluding.
func (r SumRules) beyond() string {
	if r.Honest == 1 {
		return "more than"
	}
	return fmt.Sprintf("at least %d more than", r.Honest)
}

// summed reports an error if the vector of a node is too long, or if a member of the committee
// would store too many numbers from all nodes.
func (m *Section) summed(t *Task, nodes int) {
	r, ok := t.Release()
	if !ok || m.d.chosen.Mechanism != MechanismAggregate {
		return
	}
	switch {
	case r.Numbers > maxSummed:
		m.Errorf("mechanism", "%s make %d numbers to sum, expected up to %d", r.Of, r.Numbers, maxSummed)
	case r.Numbers*nodes > maxHeld:
		m.Errorf("roster", "%d nodes times %d numbers each (%s) make %d to hold, expected up to %d", nodes, r.Numbers, r.Of, r.Numbers*nodes, maxHeld)
	}
}

// Rostered is an optional interface of StrategySettings. A strategy implements it if only the nodes
// on a list may participate in its tasks.
type Rostered interface {
	// Parties returns the nodes on the list, each once. It returns nil if all nodes may participate.
	Parties() []peer.ID
}

// Roster returns the only nodes that may participate in a task, each once. It is nil if all nodes
// may. The caller must not change the slice.
func (t *Task) Roster() []peer.ID {
	if t.Privacy != nil && t.Privacy.Aggregate != nil {
		return t.Privacy.Aggregate.Roster
	}
	if s, ok := t.Strategy.Settings.(Rostered); ok {
		return s.Parties()
	}
	return nil
}

// Roster reads the required key "roster", a list of 2 to most nodes. It returns them sorted and
// each once. After a reported error ok is false.
func (m *Section) Roster(most int) (roster []peer.ID, ok bool) {
	items, ok := m.list("roster")
	if !ok {
		return nil, false
	}
	if n := len(items); n < 2 || n > most {
		m.Errorf("roster", "roster must name 2 to %d nodes, not %d", most, n)
		return nil, false
	}
	for i, n := range items {
		id, message := m.d.scalar(n).peerID()
		if first := slices.Index(roster, id); first >= 0 && message == "" {
			message = fmt.Sprintf("repeats entry %d, %s", first+1, id)
		}
		if message != "" {
			m.errorf(nodePosition(n), "roster: entry %d %s", i+1, message)
			ok = false
		}
		roster = append(roster, id)
	}
	slices.Sort(roster)
	return roster, ok
}

// PeerWeights returns the numbers of a required mapping from peer IDs, each from low to high. ok is
// false after a reported error.
func (m *Section) PeerWeights(key string, low, high float64) (weights map[peer.ID]float64, ok bool) {
	n, ok := m.require(key)
	if !ok {
		return nil, false
	}
	entries := m.d.mapping(n, key)
	if entries == nil {
		return nil, false
	}
	weights = map[peer.ID]float64{}
	for _, name := range entries.order {
		id, message := (scalar{form: formText, text: name}).peerID()
		if message != "" {
			entries.errorf(entries.entries[name].at, "a key %s", message)
			ok = false
			continue
		}
		weights[id] = entries.Required(name, low, high)
	}
	if ok && len(weights) == 0 {
		m.Errorf(key, "%s must have at least one entry, PEER-ID: WEIGHT", key)
	}
	return weights, ok && len(weights) > 0
}

// Peer returns the node that an optional key names. ok is false without the key, and after a reported
// error.
func (m *Section) Peer(key string) (id peer.ID, ok bool) {
	n, ok := m.get(key)
	if !ok {
		return "", false
	}
	id, message := m.d.scalar(n).peerID()
	if message != "" {
		m.Errorf(key, "%s %s", key, message)
	}
	return id, message == ""
}

// peerID returns the peer ID that the scalar holds, or an error message.
func (s scalar) peerID() (id peer.ID, message string) {
	err := errors.New("too long")
	if len(s.text) <= maxIDText {
		id, err = peer.Decode(s.text)
	}
	if s.form != formText || err != nil {
		return "", fmt.Sprintf("must be a peer ID, as `fbo-node peer-id` prints it, not %s", s.describe())
	}
	// Reject IDs that do not match the form of the key: otherwise one key with several IDs would
	// count as several nodes.
	if key, err := id.ExtractPublicKey(); err != nil || key.Type() != crypto.Ed25519 || !id.MatchesPublicKey(key) {
		return "", fmt.Sprintf("must be the ID of an Ed25519 key, as `fbo-node peer-id` prints it, not %s", id)
	}
	return id, ""
}

func canonicalAggregate(form map[string]any, a *Aggregate) {
	if a != nil {
		maps.Copy(form, a.Keys())
	}
}

// Keys returns the keys of a task file and their values.
func (a *Aggregate) Keys() map[string]any {
	names := make([]string, len(a.Roster))
	for i, id := range a.Roster {
		names[i] = id.String()
	}
	return map[string]any{"roster": names, "min_contributors": a.MinContributors, "committee": a.Committee, "max_colluding": a.MaxColluding}
}
