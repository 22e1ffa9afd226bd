package task

import "math"

const (
	mechanismNone  = "none"
	mechanismLocal = "local"

	defaultDelta    = 1e-5
	defaultReleases = 10
	maxReleases     = 1000
)

func privacySection() section {
	return section{key: "privacy", parse: parsePrivacy, canonical: canonicalPrivacy}
}

func parsePrivacy(m *mapping, t *Task) {
	mechanism := m.word("mechanism", mechanismNone, mechanismNone, mechanismLocal)
	switch mechanism {
	case mechanismNone:
		for _, key := range []string{"epsilon", "delta", "clip", "releases", "adjacency"} {
			m.refuse(key, "mechanism: "+mechanismLocal)
		}
	case "": // a wrong word, reported; the keys may belong to the right one
		for _, key := range []string{"epsilon", "delta", "clip", "releases", "adjacency"} {
			m.get(key)
		}
	default:
		t.Privacy = m.privacy(t, mechanism)
	}
	m.finish()
}

func (m *mapping) privacy(t *Task, mechanism string) *Privacy {
	p := &Privacy{Mechanism: mechanism}
	if _, ok := m.require("epsilon"); ok {
		p.Epsilon = m.within("epsilon", 0, 0.01, 100)
	}
	p.Delta = m.within("delta", defaultDelta, 1e-12, 0.1)
	p.Clip = m.within("clip", math.Sqrt(float64(t.Surrogate.Features)), 1e-3, 1e4)
	p.Releases = m.whole("releases", defaultReleases, 1, maxReleases)
	p.Adjacency = m.word("adjacency", "replace-one", "replace-one", "zero-out")
	at := m.valueAt("mechanism")
	switch {
	case t.Strategy.Type == "": // reported
	case t.Strategy.FTS == nil:
		m.errorf(at, "mechanism %s applies only with strategy type fts: noise is added to weights, and strategy %s shares more than weights or nothing at all", mechanism, t.Strategy.Type)
	case t.Strategy.FTS.Mode == modeOneShot && p.Releases != 1:
		m.errorf(m.valueAt("releases"), "releases must be 1 with mode: %s, in which a node shares once", modeOneShot)
	}
	return p
}

func canonicalPrivacy(t *Task) any {
	if t.Privacy == nil {
		return nil
	}
	return map[string]any{
		"mechanism": t.Privacy.Mechanism,
		"epsilon":   t.Privacy.Epsilon,
		"delta":     t.Privacy.Delta,
		"clip":      t.Privacy.Clip,
		"releases":  t.Privacy.Releases,
		"adjacency": t.Privacy.Adjacency,
	}
}
