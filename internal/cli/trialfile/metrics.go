package trialfile

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy"
)

// parseMetrics reads the metrics of a row; an empty cell has no value.
func parseMetrics(raw map[string]any) (metrics map[string]float64, err error) {
	for name, value := range raw {
		if value == nil || value == "" {
			continue
		}
		if !strategy.IsMetricName(name) {
			return nil, fmt.Errorf("%q is no name of a metric; expected 1 to %d bytes of printable text", name, strategy.MaxMetricName)
		}
		if metrics == nil {
			metrics = map[string]float64{}
		}
		if metrics[name], err = toNumber(value); err != nil {
			return nil, fmt.Errorf("metric %q: %w", name, err)
		}
	}
	if len(metrics) > strategy.MaxMetrics {
		return nil, fmt.Errorf("%d metrics; expected at most %d", len(metrics), strategy.MaxMetrics)
	}
	return metrics, nil
}
