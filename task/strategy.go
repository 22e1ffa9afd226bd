package task

const (
	defaultInitialDesigns = 3
	maxInitialDesigns     = 1000
)

// strategySpec is one type of strategy in the task file. Adding one takes a file
// that defines it, a line in strategies and a field of Strategy for its settings.
type strategySpec struct {
	name string
	// parse reads the keys beside type and initial_designs.
	parse func(m *mapping, s *Strategy)
	// canonical adds the same keys, with all defaults.
	canonical func(form map[string]any, s Strategy)
}

func strategies() []strategySpec {
	return []strategySpec{
		plainSpec("peer-prior"), // the first is the default
		ftsSpec(),
		ftsdeSpec(),
		consensusSpec(),
		constrainedSpec(),
		densitySpec(),
		plainSpec("ts"),
		plainSpec("logei"),
		plainSpec("ucb"),
	}
}

func strategySection() section {
	return section{key: "strategy", parse: parseStrategy, canonical: canonicalStrategy}
}

func parseStrategy(m *mapping, t *Task) {
	var names []string
	for _, spec := range strategies() {
		names = append(names, spec.name)
	}
	s := &t.Strategy
	s.Type = m.word("type", names[0], names...)
	for _, spec := range strategies() {
		if spec.name == s.Type {
			spec.parse(m, s)
			s.InitialDesigns = m.whole("initial_designs", defaultInitialDesigns, 1, maxInitialDesigns)
			m.finish()
		}
	}
}

func canonicalStrategy(t *Task) any {
	form := map[string]any{"type": t.Strategy.Type, "initial_designs": t.Strategy.InitialDesigns}
	for _, spec := range strategies() {
		if spec.name == t.Strategy.Type {
			spec.canonical(form, t.Strategy)
		}
	}
	return form
}

// plainSpec is a strategy that has no settings of its own.
func plainSpec(name string) strategySpec {
	return strategySpec{
		name:      name,
		parse:     func(*mapping, *Strategy) {},
		canonical: func(map[string]any, Strategy) {},
	}
}
