package task

import "iter"

// Rules that stop evaluations early.
const (
	NoRule     = "none"
	MedianRule = "median"
	ASHARule   = "asha"

	ForecastRule = "forecast"
)

// Limits of Stopping.
const (
	maxGracePeriod     = 1_000_000_000
	maxReductionFactor = 100
	maxStartupTrials   = 1000
	maxPatience        = 1_000_000_000
)

// Stopping defines when an evaluation that reports values by step is stopped before its end. Steps
// are whole numbers from 1, such as epochs.
type Stopping struct {
	// Type is "asha" (successive halving without synchronisation: Li et al. 2020), "median" (the
	// median stopping rule: Golovin et al. 2017), "forecast" (by the predicted final value) or "none".
	Type string
	// GracePeriod is the first step at which the rule may stop an evaluation, and the lowest rung of
	// asha: 1 to 1e9, default 1.
	GracePeriod uint64
	// ReductionFactor is the factor η between rungs of asha. One trial in η continues at each. It is
	// 2 to 100, default 3.
	ReductionFactor int
	// StartupTrials is how many trials must have an outcome before median or forecast stops one: 1 to
	// 1000, default 5.
	StartupTrials int
	// Patience stops an evaluation whose value has not improved by more than MinDelta within this
	// many steps, with any Type. 0, the default, means never.
	Patience uint64
	// MinDelta is 0 or more, in the objective's units; default 0.
	MinDelta float64
	// Share is ShareQuartiles if nodes share quartiles of their curves at each rung, so that they know
	// from the start what is usual; "" if they do not. asha and forecast use them.
	Share string
}

// ShareQuartiles is the value of Stopping.Share with which nodes share quartiles.
const ShareQuartiles = "quartiles"

// Keys of the section stop.
const (
	stopKey  = "stop"
	shareKey = "share"
)

// stop reads the section stop. The other sections must have been read.
func (m *Section) stop(t *Task) *Stopping {
	n, ok := m.get(stopKey)
	if !ok {
		return nil
	}
	part := m.d.mapping(n, stopKey)
	if part == nil {
		return nil
	}
	s := &Stopping{}
	s.Patience = uint64(part.Whole("patience", 0, 0, maxPatience))
	standard := "" // without patience the section needs a rule
	if s.Patience > 0 {
		standard = NoRule
	}
	s.Type = part.Word(typeKey, standard, ForecastRule, ASHARule, MedianRule, NoRule)
	s.GracePeriod = uint64(part.Whole("grace_period", 1, 1, maxGracePeriod))
	if s.ReductionFactor = 3; s.Type == ASHARule {
		s.ReductionFactor = part.Whole("reduction_factor", 3, 2, maxReductionFactor)
	}
	if s.StartupTrials = 5; s.comparesOutcomes() {
		s.StartupTrials = part.Whole("startup_trials", 5, 1, maxStartupTrials)
	}
	if s.Patience > 0 {
		s.MinDelta = part.Within("min_delta", 0, 0, 1e300)
	}
	if s.Type == ASHARule || s.Type == ForecastRule {
		if _, ok := part.get(shareKey); ok {
			s.Share = part.Word(shareKey, "", ShareQuartiles)
		}
	}
	if s.Share != "" && t.Privacy != nil {
		part.Errorf(shareKey, "share %s has no differential privacy, which the section privacy asks for; expected no key share in the section stop", s.Share)
	}
	part.finish()
	return s
}

// Shares reports whether nodes share quartiles of their curves. s may be nil.
func (s *Stopping) Shares() bool { return s != nil && s.Share != "" }

// comparesOutcomes reports whether the rule needs complete trials.
func (s *Stopping) comparesOutcomes() bool { return s.Type == MedianRule || s.Type == ForecastRule }

// form returns the section in the form of a task file.
func (s *Stopping) form() map[string]any {
	form := map[string]any{typeKey: s.Type, "grace_period": s.GracePeriod}
	if s.Type == ASHARule {
		form["reduction_factor"] = s.ReductionFactor
	}
	if s.comparesOutcomes() {
		form["startup_trials"] = s.StartupTrials
	}
	if s.Share != "" {
		form[shareKey] = s.Share
	}
	if s.Patience > 0 {
		form["patience"], form["min_delta"] = s.Patience, s.MinDelta
	}
	return form
}

// Rungs yields the rungs in ascending order: GracePeriod times powers of ReductionFactor, up to 1e9.
func (s Stopping) Rungs() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for rung := max(s.GracePeriod, 1); rung <= maxGracePeriod && yield(rung); rung *= uint64(max(s.ReductionFactor, 2)) {
		}
	}
}
