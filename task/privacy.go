package task

import "math"

const (
	mechanismNone      = "none"
	mechanismLocal     = "local"
	mechanismAggregate = "aggregate"

	defaultDelta    = 1e-5
	defaultReleases = 10
	maxReleases     = 1000
)

func privacySection() section {
	return section{key: "privacy", parse: parsePrivacy, canonical: canonicalPrivacy}
}

func promiseKeys() []string { return []string{"epsilon", "delta", "clip", "releases", "adjacency"} }

func parsePrivacy(m *mapping, t *Task) {
	mechanism := m.word("mechanism", mechanismNone, mechanismNone, mechanismLocal, mechanismAggregate)
	at := m.valueAt("mechanism")
	if t.Strategy.FTSDE != nil && mechanism != mechanismAggregate && mechanism != "" {
		m.errorf(at, "strategy type fts-de shares sums alone: it needs mechanism: %s (with epsilon and roster), not %s", mechanismAggregate, mechanism)
		mechanism = ""
	}
	switch mechanism {
	case mechanismNone:
		m.refuseAll(promiseKeys(), "mechanism: "+mechanismLocal+" or "+mechanismAggregate)
		m.refuseAll(aggregateKeys(), "mechanism: "+mechanismAggregate)
	case mechanismLocal:
		t.Privacy = m.privacy(t, mechanism)
		m.refuseAll(aggregateKeys(), "mechanism: "+mechanismAggregate)
		m.local(t)
	case mechanismAggregate:
		t.Privacy = m.privacy(t, mechanism)
		t.Privacy.Aggregate = m.aggregate(t)
		if t.Strategy.Type != "" && t.Strategy.FTSDE == nil {
			m.errorf(at, "mechanism %s applies only with strategy type fts-de, which shares sums alone; with strategy %s nothing is summed", mechanism, t.Strategy.Type)
		}
	case "": // a wrong word, reported; the keys may belong to the right one
		for _, key := range append(promiseKeys(), aggregateKeys()...) {
			m.get(key)
		}
	}
	m.finish()
}

func (m *mapping) refuseAll(keys []string, condition string) {
	for _, key := range keys {
		m.refuse(key, condition)
	}
}

func (m *mapping) privacy(t *Task, mechanism string) *Privacy {
	p := &Privacy{Mechanism: mechanism}
	if _, ok := m.require("epsilon"); ok {
		p.Epsilon = m.within("epsilon", 0, 0.01, 100)
	}
	p.Delta = m.within("delta", defaultDelta, 1e-12, 0.1)
	p.Clip = m.within("clip", defaultClip(t), 1e-3, 1e4)
	p.Releases = m.whole("releases", defaultReleases, 1, maxReleases)
	p.Adjacency = m.word("adjacency", "replace-one", "replace-one", "zero-out")
	return p
}

// defaultClip is the norm that a draw of the prior has, and half of it for a mean,
// which is shorter: all should be clipped, since the noise grows with the norm.
func defaultClip(t *Task) float64 {
	norm := math.Sqrt(float64(t.Surrogate.Features))
	if f := t.Strategy.FTSDE; f != nil && f.Share == "mean" {
		return norm / 2
	}
	return norm
}

// local says with what each node can add the noise by itself.
func (m *mapping) local(t *Task) {
	at := m.valueAt("mechanism")
	switch {
	case t.Strategy.Type == "": // reported
	case t.Strategy.FTS == nil:
		m.errorf(at, "mechanism %s applies only with strategy type fts: noise is added to weights, and strategy %s shares more than weights or nothing at all", mechanismLocal, t.Strategy.Type)
	case t.Strategy.FTS.Mode == modeOneShot && t.Privacy.Releases != 1:
		m.errorf(m.valueAt("releases"), "releases must be 1 with mode: %s, in which a node shares once", modeOneShot)
	}
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
