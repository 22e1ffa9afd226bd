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
	switch mechanism {
	case mechanismNone:
		for _, key := range promiseKeys() {
			m.refuse(key, "mechanism: "+mechanismLocal+" or "+mechanismAggregate)
		}
		if t.Strategy.FTSDE != nil {
			m.errorf(at, "strategy fts-de rests on private sums: it needs mechanism: %s", mechanismAggregate)
		}
	case "": // a wrong word, reported; the keys may belong to the right one
		for _, key := range promiseKeys() {
			m.get(key)
		}
	default:
		t.Privacy = m.privacy(t, mechanism)
	}
	switch mechanism {
	case mechanismAggregate:
		t.Privacy.Aggregate = m.aggregate(t)
		if t.Strategy.Type != "" && t.Strategy.FTSDE == nil {
			m.errorf(at, "mechanism %s applies only with strategy type fts-de, which shares sums alone; with strategy %s nothing is summed", mechanism, t.Strategy.Type)
		}
	case "":
		for _, key := range aggregateKeys() {
			m.get(key)
		}
	default:
		for _, key := range aggregateKeys() {
			m.refuse(key, "mechanism: "+mechanismAggregate)
		}
	}
	if mechanism == mechanismLocal {
		m.local(t)
	}
	m.finish()
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
	case t.Strategy.FTSDE != nil:
		m.errorf(at, "mechanism %s applies only with strategy type fts: strategy fts-de shares sums alone, for which there is mechanism: %s", mechanismLocal, mechanismAggregate)
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
