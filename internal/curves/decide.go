package curves

import (
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// PatienceRule is the rule of task.Stopping.Patience.
const PatienceRule = "patience"

// Stop is the decision to stop an evaluation early.
type Stop struct {
	Rule   string `json:"rule"`   // "forecast", "asha", "median", "patience", or "program" if the program itself decided
	Step   uint64 `json:"step"`   // last step at the decision
	Reason string `json:"reason"` // a sentence without a period

	// Forecast is the final value that was predicted at the decision, in the objective's units, and
	// Deviation the standard deviation of the prediction. Forecast is nil if there was none.
	Forecast  *float64 `json:"forecast,omitempty"`
	Deviation float64  `json:"deviation,omitempty"`
}

// Forecast is a predicted final value, in the objective's units.
type Forecast struct {
	Mean, Deviation float64
}

// Trial is a curve of the same task, and whether its evaluation ran to its end.
type Trial struct {
	Curve
	Complete bool
	Final    float64   // the outcome, if Complete
	Forecast *Forecast // the final value that was predicted at the stop; nil if there is none
	Cut      bool      // Complete, but stopped by patience: its last step is not the end of an evaluation
}

// Decide returns the decision to stop an evaluation after its newest values, or nil. before is the
// number of values at the last call, others are the curves of the other trials that did not fail.
// asha also uses the sketches of peers.
func Decide(s task.Stopping, goal task.Goal, own Curve, before int, others []Trial, peers []Peer) *Stop {
	d := decider{Stopping: s, sign: goal.Sign(), own: own, others: others, peers: peers}
	if !Due(s, own, before, others) {
		return nil
	}
	if stop := d.patience(); stop != nil {
		return stop
	}
	switch s.Type {
	case task.ASHARule:
		return d.asha(before)
	case task.MedianRule:
		return d.median()
	}
	return nil
}

// Due reports whether the newest values may lead to a decision: there are new ones, the grace period
// is over, and the evaluation is not about to end.
func Due(s task.Stopping, own Curve, before int, others []Trial) bool {
	return len(own) > before && own.Last().Step >= s.GracePeriod && own.Last().Step < decider{others: others}.end()
}

type decider struct {
	task.Stopping
	sign   float64
	own    Curve
	others []Trial
	peers  []Peer
}

// end returns the last step of the longest complete evaluation that was not cut. An evaluation that
// reaches it is about to end, so that a stop would only lose its outcome.
func (d decider) end() uint64 {
	end := uint64(0)
	for _, o := range d.others {
		if o.Complete && !o.Cut && len(o.Curve) > 0 {
			end = max(end, o.Last().Step)
		}
	}
	if end == 0 {
		return math.MaxUint64
	}
	return end
}

func (d decider) stop(rule, format string, args ...any) *Stop {
	return &Stop{Rule: rule, Step: d.own.Last().Step, Reason: fmt.Sprintf(format, args...)}
}

func (d decider) patience() *Stop {
	if d.Patience == 0 {
		return nil
	}
	best := d.own[0]
	for _, s := range d.own[1:] {
		if d.sign*(s.Value-best.Value) > d.MinDelta {
			best = s
		}
	}
	if d.own.Last().Step-best.Step < d.Patience {
		return nil
	}
	return d.stop(PatienceRule, "no improvement by more than %g in the %d steps since step %d", d.MinDelta, d.own.Last().Step-best.Step, best.Step)
}

// asha is the stopping form of asynchronous successive halving (Li, Jamieson, Rostamizadeh and others
// 2020, "A system for massively parallel hyperparameter tuning", algorithm 2). Rungs are GracePeriod
// times powers of ReductionFactor. A value at a rung is that of the first step at or after it.
// An evaluation continues if it is among the best 1/ReductionFactor of those that reached the rung.
// Those of peers' sketches count too, but the best one of the node's own always continues.
func (d decider) asha(before int) *Stop {
	reached := uint64(0) // the last step that an earlier call decided on
	if before > 0 {
		reached = d.own[before-1].Step
	}
	index := -1
	for rung := range d.Rungs() {
		if index++; rung > d.own.Last().Step {
			break
		}
		if rung <= reached {
			continue
		}
		at := d.own[d.own.first(rung)]
		own, ownBetter := 1, 0
		for _, o := range d.others {
			if i := o.first(rung); i < len(o.Curve) {
				own++
				if d.sign*(o.Curve[i].Value-at.Value) > 0 {
					ownBetter++
				}
			}
		}
		peers, peersBetter := reachedBy(d.peers, index, at.Value, d.sign)
		among, better := float64(own)+peers, float64(ownBetter)+peersBetter
		if ownBetter == 0 || better < max(1, among/float64(d.ReductionFactor)) {
			continue
		}
		ofPeers := ""
		if peers > 0 {
			ofPeers = " with those of peers"
		}
		return d.stop(task.ASHARule, "%g at step %d is %s of %.0f trials%s; expected among the best %.0f",
			at.Value, at.Step, ordinal(int(math.Round(better))+1), among, ofPeers, max(1, math.Floor(among/float64(d.ReductionFactor))))
	}
	return nil
}

func ordinal(n int) string {
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// median is the median stopping rule (Golovin, Solnik, Moitra and others 2017, "Google Vizier",
// section 3.2): an evaluation stops at a step if its best value until then is worse than the median
// of the running averages of the complete evaluations until that step.
func (d decider) median() *Stop {
	last := d.own.Last()
	best := d.own[0].Value
	for _, s := range d.own[1:] {
		if d.sign*(s.Value-best) > 0 {
			best = s.Value
		}
	}
	var averages []float64
	for _, o := range d.others {
		if !o.Complete || len(o.Curve) == 0 || o.Curve[0].Step > last.Step {
			continue
		}
		sum, n := 0.0, 0
		for _, s := range o.Curve {
			if s.Step <= last.Step {
				sum, n = sum+s.Value, n+1
			}
		}
		averages = append(averages, sum/float64(n))
	}
	if len(averages) < d.StartupTrials {
		return nil
	}
	slices.Sort(averages)
	n := len(averages)
	median := (averages[(n-1)/2] + averages[n/2]) / 2
	if d.sign*(median-best) <= 0 {
		return nil
	}
	return d.stop(task.MedianRule, "best value %g until step %d is worse than the median %g of %d complete trials", best, last.Step, median, n)
}
