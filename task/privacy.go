package task

import (
	"math"
	"strings"
)

// Values of the key mechanism in a task file.
const (
	MechanismLocal     = "local"     // each node itself adds all of the noise to what it shares
	MechanismAggregate = "aggregate" // each node adds a part of the noise, and only sums over nodes become visible
)

const (
	mechanismNone = "none"

	defaultDelta    = 1e-5
	defaultReleases = 10
	maxReleases     = 1000
)

func privacySection() section {
	return section{key: "privacy", parse: parsePrivacy, canonical: canonicalPrivacy}
}

func promiseKeys() []string { return []string{"epsilon", "delta", "clip", "releases", "adjacency"} }

func parsePrivacy(m *Section, t *Task) {
	mechanism := m.Word("mechanism", mechanismNone, mechanismNone, MechanismLocal, MechanismAggregate)
	chosen := m.d.chosen
	if chosen.Private && mechanism != chosen.Mechanism && mechanism != "" {
		m.Errorf("mechanism", "strategy type %s shares sums alone: it needs mechanism: %s (with epsilon and roster), not %s", chosen.Name, chosen.Mechanism, mechanism)
		mechanism = ""
	}
	switch mechanism {
	case mechanismNone:
		m.refuseAll(promiseKeys(), "mechanism: "+MechanismLocal+" or "+MechanismAggregate)
		m.refuseAll(aggregateKeys(), "mechanism: "+MechanismAggregate)
	case MechanismLocal:
		t.Privacy = m.privacy(t, mechanism)
		m.refuseAll(aggregateKeys(), "mechanism: "+MechanismAggregate)
		m.suits(mechanism, ": noise is added to weights and designs, and strategy "+chosen.Name+" shares something else or nothing at all")
	case MechanismAggregate:
		t.Privacy = m.privacy(t, mechanism)
		t.Privacy.Aggregate = m.aggregate(t)
		m.suits(mechanism, ", which shares sums alone; with strategy "+chosen.Name+" nothing is summed")
	case "": // an unknown mechanism was already reported; the other keys may belong to the intended one
		m.Accept(promiseKeys()...)
		m.Accept(aggregateKeys()...)
	}
	if r, ok := t.Release(); ok && t.Privacy != nil && mechanism == chosen.Mechanism {
		if r.Needs != "" {
			m.Errorf("mechanism", "mechanism %s with strategy type %s needs %s: other shares have no noise with a guarantee", mechanism, chosen.Name, r.Needs)
		}
		if r.Once != "" && t.Privacy.Releases != 1 {
			m.Errorf("releases", "releases must be 1 with %s, in which a node shares once", r.Once)
		}
	}
	if t.Privacy != nil && t.Surrogate.Extended() {
		accepted := exact + " or " + rff
		if t.Surrogate.Extension.Key == hyperparametersKey {
			accepted = learned + " or " + fixed
		}
		m.Errorf("mechanism", "mechanism %s does not go with %s of the section surrogate, by which nodes share without noise; expected %s: %s there", mechanism, t.Surrogate.Extension, t.Surrogate.Extension.Key, accepted)
	}
	m.finish()
}

// suits reports an error, with the reason why, if the strategy does not support the mechanism.
func (m *Section) suits(mechanism, why string) {
	if chosen := m.d.chosen; chosen.Name != "" && chosen.Mechanism != mechanism { // without a name, an error in the section strategy was already reported
		m.Errorf("mechanism", "mechanism %s applies only with strategy type %s%s", mechanism, strings.Join(m.d.strategyNames(mechanism), " or "), why)
	}
}

func (m *Section) refuseAll(keys []string, condition string) {
	for _, key := range keys {
		m.Refuse(key, condition)
	}
}

func (m *Section) privacy(t *Task, mechanism string) *Privacy {
	p := &Privacy{Mechanism: mechanism}
	if _, ok := m.require("epsilon"); ok {
		p.Epsilon = m.Within("epsilon", 0, 0.01, 100)
	}
	p.Delta = m.Within("delta", defaultDelta, 1e-12, 0.1)
	p.Clip = m.Within("clip", defaultClip(t), 1e-3, maxClip(t))
	p.Releases = m.Whole("releases", defaultReleases, 1, maxReleases)
	p.Adjacency = m.Word("adjacency", "replace-one", "replace-one", "zero-out")
	return p
}

// defaultClip returns the default of the key clip: the typical norm of released vectors, or without
// a release that of a draw of the prior. A larger clip needs more noise, a smaller one would clip
// many vectors.
func defaultClip(t *Task) float64 {
	if r, ok := t.Release(); ok {
		return r.Norm
	}
	return math.Sqrt(float64(t.Surrogate.Features))
}

// maxClip returns the largest accepted value of clip. If the released vector is a design, this is
// Release.Norm: no design's vector is longer, so a larger clip would only add noise.
func maxClip(t *Task) float64 {
	if r, ok := t.Release(); ok && r.Place {
		return r.Norm
	}
	return 1e4
}

func canonicalPrivacy(t *Task) any {
	if t.Privacy == nil {
		return nil
	}
	form := map[string]any{
		"mechanism": t.Privacy.Mechanism,
		"epsilon":   t.Privacy.Epsilon,
		"delta":     t.Privacy.Delta,
		"clip":      t.Privacy.Clip,
		"releases":  t.Privacy.Releases,
		"adjacency": t.Privacy.Adjacency,
	}
	canonicalAggregate(form, t.Privacy.Aggregate)
	return form
}
