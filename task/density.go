package task

const (
	defaultBeta = 5 // a tenth of a budget of 50, as piBO takes it
	maxBeta     = 1000

	defaultComponents = 1
	maxComponents     = 16

	defaultSpread = 0.2
	minSpread     = 0.001
	maxSpread     = 10
)

func densitySpec() strategySpec {
	return strategySpec{name: "density", parse: parseDensity, canonical: canonicalDensity}
}

func parseDensity(m *mapping, s *Strategy) {
	d := &Density{
		Beta:       m.within("beta", defaultBeta, 0, maxBeta),
		Components: m.whole("components", defaultComponents, 1, maxComponents),
	}
	s.Density = d
	if d.Components == 1 {
		d.Spread = m.within("spread", defaultSpread, minSpread, maxSpread)
	} else {
		m.refuse("spread", "components: 1")
	}
}

func canonicalDensity(form map[string]any, s Strategy) {
	form["beta"], form["components"] = s.Density.Beta, s.Density.Components
	if s.Density.Components == 1 {
		form["spread"] = s.Density.Spread
	}
}
