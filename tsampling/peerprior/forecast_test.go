package peerprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// What an expert predicts of a design is the density that it gives the next observation, if that is
// one at the design: the density by which experts are weighed.
func TestPredictionIsTheDensityOfTheNextObservation(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	view := with(l.view(l.designs(8, random.SeedOf(1)), bump(0.3)), l.peersOf(3, 20, bump(0.4), 1)...)
	o, err := l.strategy.mixtureOf(view, 9, random.SeedOf(2))
	if err != nil || len(o.experts) == 0 {
		t.Fatalf("%d experts, %v", len(o.experts), err)
	}
	for _, x := range l.designs(5, random.SeedOf(3)) {
		covariance := gp.Covariance(l.strategy.spec, append(o.data.x[:8:8], x), o.data.h.Lengthscales)
		for i, e := range append(o.experts, o.alone...) {
			const y = 0.7
			next := &expert{odds: 1, size: e.size, around: e.around}
			if e.around != nil {
				deviation, _ := e.around.deviation(e.around.left.Value(x))
				next.mean = append(e.mean[:8:8], e.around.function(1).Value(x))
				next.deviations = append(e.deviations[:8:8], deviation)
			}
			if !next.observe(newData(l.strategy.spec, o.data.h, ownData{x: append(o.data.x[:8:8], x), y: append(o.data.y[:8:8], y)})) {
				t.Fatal("cannot be computed")
			}
			c := e.predict(o.data, x, covariance)
			got := -(y-c.Mean)*(y-c.Mean)/(2*c.Variance) - math.Log(c.Variance)/2
			if math.Abs(got-next.logs[8]) > 1e-8 {
				t.Errorf("expert %d: log density %g, want %g", i, got, next.logs[8])
			}
		}
	}
}

// Weights of both mixtures sum to 1, and the one without peers knows nothing of them.
func TestForecastsOfSuggestions(t *testing.T) {
	for _, goal := range []string{"maximize", "minimize"} {
		l := newLab(t, goal, plane, exact)
		similar, other := l.peersOf(4, 25, bump(0.7), 1), l.peersOf(4, 25, bump(0.2), 1)
		own := l.view(l.designs(6, random.SeedOf(1)), bump(0.7))
		if got := l.suggest(own, 7, random.SeedOf(2)).Forecast; got != nil {
			t.Errorf("%s: a forecast without peers", goal)
		}
		if got := l.suggest(with(l.view(l.designs(2, random.SeedOf(1)), bump(0.7)), similar...), 3, random.SeedOf(2)).Forecast; got != nil {
			t.Errorf("%s: a forecast before the starting designs have outcomes", goal)
		}
		total := 0.0
		for seed := range uint64(10) {
			own := l.view(l.designs(6, random.SeedOf(seed)), bump(0.7))
			s := l.suggest(with(own, similar...), 7, random.SeedOf(2))
			if s.Forecast == nil {
				t.Fatalf("%s: no forecast", goal)
			}
			weights := [2]float64{}
			for _, c := range s.Forecast.With {
				weights[0] += c.Weight
			}
			for _, c := range s.Forecast.Without {
				weights[1] += c.Weight
			}
			if math.Abs(weights[0]-1) > 1e-9 || math.Abs(weights[1]-1) > 1e-9 {
				t.Errorf("%s: weights %v", goal, weights)
			}
			gain, ok := s.Forecast.Gain(bump(0.7)(l.task.Space.Encode(s.Design)))
			if !ok {
				t.Errorf("%s: no gain", goal)
			}
			total += gain
			without := l.suggest(with(own, other...), 7, random.SeedOf(2)).Forecast.Without
			for i := range without {
				if without[i].Weight != s.Forecast.Without[i].Weight {
					t.Errorf("%s: the weights without peers depend on them: %v and %v", goal, without, s.Forecast.Without)
				}
			}
		}
		if total/10 < 0.1 {
			t.Errorf("%s: peers with the same objective gain %g nats on average", goal, total/10)
		}
	}
}
