package task

const (
	defaultConfidence = 2
	maxConfidence     = 100
)

func constrainedSpec() strategySpec {
	return strategySpec{name: "constrained-gp", parse: parseConstrained, canonical: canonicalConstrained}
}

func parseConstrained(m *mapping, s *Strategy) {
	s.Constrained = &Constrained{
		Threshold:  m.word("threshold", "none", "none", "open"),
		Confidence: m.within("confidence", defaultConfidence, 0, maxConfidence),
	}
}

func canonicalConstrained(form map[string]any, s Strategy) {
	form["threshold"], form["confidence"] = s.Constrained.Threshold, s.Constrained.Confidence
}
