package task

import "math/bits"

const (
	listenJudged   = "judged"
	listenSchedule = "schedule"

	maxCells = 16
)

func ftsdeSpec() strategySpec {
	return strategySpec{name: "fts-de", parse: parseFTSDE, canonical: canonicalFTSDE}
}

func parseFTSDE(m *mapping, s *Strategy) {
	f := &FTSDE{}
	s.FTSDE = f
	f.Cells = m.whole("cells", 1, 1, maxCells)
	if bits.OnesCount(uint(f.Cells)) != 1 {
		m.errorf(m.valueAt("cells"), "cells must be a power of 2, so that they have equal size, not %d", f.Cells)
	}
	f.Listen = m.word("listen", listenJudged, listenJudged, listenSchedule)
	f.Share = m.word("share", "mean", "mean", "sample")
	f.ShareEvery = m.whole("share_every", defaultShareEvery, 1, maxShareTrials)
	switch f.Listen {
	case listenSchedule:
		f.Schedule, f.OwnProbability = m.schedule("inverse")
	case listenJudged:
		m.refuse("schedule", "listen: "+listenSchedule)
		m.refuse("own_probability", "listen: "+listenSchedule+" and schedule: "+scheduleConstant)
	default: // a wrong word, reported; the keys may belong to the right one
		m.get("schedule")
		m.get("own_probability")
	}
}

func canonicalFTSDE(form map[string]any, s Strategy) {
	f := s.FTSDE
	form["cells"], form["listen"], form["share"], form["share_every"] = f.Cells, f.Listen, f.Share, f.ShareEvery
	if f.Listen == listenSchedule {
		form["schedule"] = f.Schedule
		if f.Schedule == scheduleConstant {
			form["own_probability"] = f.OwnProbability
		}
	}
}
