package render

import (
	"fmt"
	"math"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// Progress writes the used part of a budget, as in "12 of 50 evaluations, cost 40.2 of 100".
func Progress(p agent.Progress) string {
	text := sanitize.Count(p.Evals, "evaluation")
	if p.MaxEvals > 0 {
		text = fmt.Sprintf("%d of %d evaluations", p.Evals, p.MaxEvals)
	}
	if p.Cost != nil {
		text += fmt.Sprintf(", cost %.4g", p.Cost.Spent)
	}
	if p.MaxCost > 0 {
		text += fmt.Sprintf(" of %.4g", p.MaxCost)
	}
	return text
}

// TimeLeft writes the estimated remaining time, as in "about 4 min left"; empty if it is unknown.
func TimeLeft(p agent.Progress) string {
	if p.SecondsLeft <= 0 {
		return ""
	}
	return "about " + roughly(p.SecondsLeft) + " left"
}

// roughly returns a number of seconds in its largest unit.
func roughly(seconds float64) string {
	const hour = float64(time.Hour / time.Second)
	switch {
	case seconds < 90:
		return fmt.Sprintf("%d s", int(math.Ceil(seconds)))
	case seconds < 1.5*hour:
		return fmt.Sprintf("%.0f min", math.Round(seconds/60))
	case seconds < 36*hour:
		return fmt.Sprintf("%.0f h", math.Round(seconds/hour))
	}
	return fmt.Sprintf("%.0f days", math.Round(seconds/hour/24))
}
