package task

const (
	modeConcurrent   = "concurrent"
	modeOneShot      = "one-shot"
	scheduleConstant = "constant"

	defaultShareEvery = 1
	defaultShareAfter = 50 // t_n in the experiments of Dai, Low and Jaillet (NeurIPS 2020)
	maxShareTrials    = 10000
)

func ftsSpec() strategySpec {
	return strategySpec{name: "fts", parse: parseFTS, canonical: canonicalFTS}
}

func parseFTS(m *mapping, s *Strategy) {
	f := &FTS{}
	s.FTS = f
	f.Mode = m.word("mode", modeConcurrent, modeConcurrent, modeOneShot)
	f.Schedule, f.OwnProbability = m.schedule("inverse-sqrt")
	if f.Mode != modeOneShot {
		f.ShareEvery = m.whole("share_every", defaultShareEvery, 1, maxShareTrials)
	}
	if f.Mode != modeConcurrent {
		f.ShareAfter = m.whole("share_after", defaultShareAfter, 1, maxShareTrials)
	}
	switch f.Mode {
	case modeOneShot:
		m.refuse("share_every", "mode: "+modeConcurrent)
	case modeConcurrent:
		m.refuse("share_after", "mode: "+modeOneShot)
	}
}

// schedule reads how p_t follows from the trial.
func (m *mapping) schedule(fallback string) (name string, ownProbability float64) {
	name = m.word("schedule", fallback, "inverse-sqrt", "inverse-square", "inverse", scheduleConstant, "own-only")
	switch name {
	case scheduleConstant:
		if _, ok := m.require("own_probability"); ok {
			ownProbability = m.within("own_probability", 0, 0, 1)
		}
	case "": // a wrong word, reported; the key may belong to the right one
		m.get("own_probability")
	default:
		m.refuse("own_probability", "schedule: "+scheduleConstant)
	}
	return name, ownProbability
}

func canonicalFTS(form map[string]any, s Strategy) {
	f := s.FTS
	form["mode"], form["schedule"] = f.Mode, f.Schedule
	if f.Schedule == scheduleConstant {
		form["own_probability"] = f.OwnProbability
	}
	if f.Mode == modeOneShot {
		form["share_after"] = f.ShareAfter
	} else {
		form["share_every"] = f.ShareEvery
	}
}
