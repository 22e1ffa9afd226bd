package strategy

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// Forecast holds two predictive distributions of the objective at a design, made before its
// evaluation. One uses peers' shares and the node's own observations, the other uses only the
// latter. Both are mixtures of normal distributions of the standardised output.
type Forecast struct {
	With, Without []Component
	Units         Units // convert between the objective and the standardised output
}

// Component is one normal distribution of a mixture. The weights of a mixture sum to 1.
type Component struct {
	Weight, Mean, Variance float64
}

// Gain returns the logarithmic score that peers' shares add: the logarithm of the predictive
// density at output with peers' shares, minus that without them, in nats. The output is a value of
// the objective. Its sign is reversed if the goal is minimize, as in Observations. ok is false if
// the gain is not finite.
func (f *Forecast) Gain(output float64) (nats float64, ok bool) {
	y := f.Units.Standardised(output)
	nats = logDensity(f.With, y) - logDensity(f.Without, y)
	return nats, !math.IsNaN(nats) && !math.IsInf(nats, 0)
}

// logDensity returns the logarithm of a mixture's density at y, without the term ln(2π)/2.
func logDensity(mixture []Component, y float64) float64 {
	most := math.Inf(-1)
	logs := make([]float64, len(mixture))
	for i, c := range mixture {
		logs[i] = math.Log(c.Weight) - (y-c.Mean)*(y-c.Mean)/(2*c.Variance) - math.Log(c.Variance)/2
		most = max(most, logs[i])
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - most)
	}
	return most + math.Log(sum)
}

// Verdicts of a PeerEffect.
const (
	PeersImproved    = "improved"      // the mean gain exceeds 0 by more than two standard errors
	PeersWorsened    = "worsened"      // the mean gain is below 0 by more than two standard errors
	PeersNoEffect    = "no difference" // the mean gain is within two standard errors of 0
	PeersTooFew      = "too few results"
	PeersNotMeasured = "not measured" // the strategy makes no forecasts from peers' shares
)

// minGains is the minimum number of results for a verdict on whether peers' shares help.
const minGains = 5

// PeerEffect measures how peers' shares change the predictions of a node. It uses the prequential
// comparison of Dawid, "Present position and potential developments: some personal views.
// Statistical theory, the prequential approach" (1984): each result is predicted before its
// evaluation, with peers' shares and without. The effect is the mean of [Forecast.Gain] over the
// results.
//
// It compares predictions, not regret: better predictions usually, but not always, mean better designs.
type PeerEffect struct {
	Verdict       string  `json:"verdict"`        // PeersImproved or one of the other verdicts
	Results       int     `json:"results"`        // number of results with a gain
	Mean          float64 `json:"mean"`           // mean gain, in nats per result
	StandardError float64 `json:"standard_error"` // of the mean; 0 for fewer than two results
}

// PeerEffectOf computes the effect from the gains of the trials of a task with disclosure d.
func PeerEffectOf(t *task.Task, d Disclosure, trials []Trial) PeerEffect {
	if d.Forecasts == nil || !d.Forecasts(t) {
		return PeerEffect{Verdict: PeersNotMeasured}
	}
	e := PeerEffect{Verdict: PeersTooFew}
	squares := 0.0 // sum of squared deviations from the mean, by Welford's method
	for _, trial := range trials {
		if trial.PeerGain == nil {
			continue
		}
		e.Results++
		deviation := *trial.PeerGain - e.Mean
		e.Mean += deviation / float64(e.Results)
		squares += deviation * (*trial.PeerGain - e.Mean)
	}
	if e.Results > 1 {
		e.StandardError = math.Sqrt(squares / float64(e.Results-1) / float64(e.Results))
	}
	switch {
	case e.Results < minGains:
	case math.Abs(e.Mean) <= 2*e.StandardError:
		e.Verdict = PeersNoEffect
	case e.Mean > 0:
		e.Verdict = PeersImproved
	default:
		e.Verdict = PeersWorsened
	}
	return e
}

// PeerEffectKey is the key of the item that [PeerEffect.Item] returns.
const PeerEffectKey = "peer_effect"

// Item returns the effect as a StatusItem.
func (e PeerEffect) Item() StatusItem {
	return StatusItem{Key: PeerEffectKey, Label: "effect", Value: e, Text: e.String()}
}

// String returns the effect in a sentence, without a full stop.
func (e PeerEffect) String() string {
	figures := fmt.Sprintf("log density %+.2g ± %.1g per result, %s", e.Mean, e.StandardError, sanitize.Count(e.Results, "result"))
	switch e.Verdict {
	case PeersImproved:
		return "peers' shares improved the predictions of this node (" + figures + ")"
	case PeersWorsened:
		return "peers' shares worsened the predictions of this node (" + figures + ")"
	case PeersNoEffect:
		return "peers' shares made no measurable difference to the predictions of this node (" + figures + "); only large effects are measurable"
	case PeersTooFew:
		return fmt.Sprintf("whether peers' shares improve the predictions of this node: too few results yet (%d of %d)", e.Results, minGains)
	}
	return "whether peers' shares improve predictions is not measured with this strategy"
}
