package curves

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

var shared = task.Stopping{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3, StartupTrials: 5, Share: task.ShareQuartiles}

// falling returns a complete curve of nine steps that falls by drop from its first value to its end.
func falling(first, drop float64) Trial {
	var c Curve
	for step := uint64(1); step <= 9; step++ {
		c = append(c, Step{Step: step, Value: first - drop*float64(step-1)/8})
	}
	return Trial{Curve: c, Complete: true, Final: first - drop}
}

// population returns complete curves whose first values have this centre and spread, and whose drops
// lie around drop.
func population(rng *rand.Rand, n int, centre, spread, drop float64) (all []Trial) {
	for range n {
		all = append(all, falling(centre+spread*rng.NormFloat64(), drop*(1+.2*rng.NormFloat64())))
	}
	return all
}

func TestSketch(t *testing.T) {
	all := []Trial{falling(1, .5), falling(2, .5), falling(3, 1), falling(4, 1), falling(5, 1)}
	all = append(all, Trial{Curve: curve(6)}, Trial{}) // stopped at step 1, and one without values
	got := SketchOf(shared, all)
	if len(got) != 3 {
		t.Fatalf("%d rungs, expected those of steps 1, 3 and 9", len(got))
	}
	if got[0].Count != 6 || got[0].Complete != 5 || got[2].Count != 5 {
		t.Errorf("counts %+v", got)
	}
	for _, r := range got {
		unit := (r.Values[2] - r.Values[0]) / 4
		for i, want := range []float64{1, 2, 3, 4, 5, 6}[:3] {
			if math.Abs(r.Values[i]-want-.5) > 1+unit {
				t.Errorf("quartiles %v", r.Values)
				break
			}
		}
	}
	if m := got[0].Changes[1]; m > -.4 || m < -1.1 {
		t.Errorf("median change %v", m)
	}
	if few := SketchOf(shared, all[:3]); len(few) != 0 {
		t.Errorf("a sketch of three curves: %+v", few)
	}
	if _, err := (protocol.Curves{Rungs: got}).Encode(); err != nil {
		t.Error(err)
	}
}

// TestSketchIsCoarse: a sketch has few digits, so that other curves with nearly the same values have
// the same one.
func TestSketchIsCoarse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		all := population(rng, 4+rng.IntN(20), rng.NormFloat64(), 1, 1)
		for _, r := range SketchOf(shared, all) {
			spread := r.Values[2] - r.Values[0]
			if spread == 0 {
				continue
			}
			unit := math.Exp2(math.Floor(math.Log2(spread / 8)))
			for _, q := range r.Values {
				if q/unit != math.Round(q/unit) {
					t.Fatalf("quartile %v is not a multiple of %v", q, unit)
				}
			}
		}
	}
	equal := []Trial{falling(.123456789, 0), falling(.123456789, 0), falling(.123456789, 0), falling(.123456789, 0)}
	if q := SketchOf(shared, equal)[0].Values; q[0] == .123456789 {
		t.Errorf("equal values are shared exactly: %v", q)
	}
}

// TestSketchOfRealNumbers: whatever the values are, peers accept the sketch.
func TestSketchOfRealNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		scale := math.Exp2(float64(rng.IntN(600) - 300))
		var all []Trial
		for range rng.IntN(12) {
			trial := falling(scale*rng.NormFloat64(), scale*rng.NormFloat64())
			switch rng.IntN(4) {
			case 0:
				trial = Trial{Curve: trial.Curve[:1+rng.IntN(8)]}
			case 1:
				trial.Cut = true
			}
			all = append(all, trial)
		}
		sketch := SketchOf(shared, all)
		if len(sketch) == 0 {
			continue
		}
		if _, err := (protocol.Curves{Rungs: sketch}).Encode(); err != nil {
			t.Fatalf("%+v: %v", sketch, err)
		}
	}
}

// TestJudge: with ten own evaluations, peers with the same distribution are used, and those with other
// units, another level or other changes are not. 200 repeats; the bounds leave four standard errors
// beside the rates of 86 % and 0.
func TestJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	used := map[string]int{}
	const repeats = 200
	for range repeats {
		own := population(rng, 10, 1, .3, .4)
		for name, peer := range map[string][]Trial{
			"alike":       population(rng, 30, 1, .3, .4),
			"other units": population(rng, 30, 100, 30, 40),
			"negative":    population(rng, 30, -1, .3, -.4),
			"other level": population(rng, 30, 2, .3, .4),
			"other drop":  population(rng, 30, 1, .3, .05),
		} {
			if len(Judge(shared, own, []Sketch{SketchOf(shared, peer)})) > 0 {
				used[name]++
			}
		}
	}
	t.Log(used)
	for name, count := range used {
		if name == "alike" && count < repeats*76/100 || name != "alike" && count > 4 {
			t.Errorf("%s: used in %d of %d cases", name, count, repeats)
		}
	}
	if used["alike"] == 0 {
		t.Error("no peer is used")
	}
	early := []Trial{falling(1, .4), {Curve: curve(1.1)}}
	sketches := []Sketch{SketchOf(shared, population(rng, 30, 1, .3, .4)), nil}
	if got := Judge(shared, early[:1], sketches); got != nil {
		t.Errorf("one own value: %v", got)
	}
	if got := Judge(shared, []Trial{early[1], early[1]}, sketches); got != nil {
		t.Errorf("no own outcome: %v", got)
	}
}

func TestASHAWithPeers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	peers := []Peer{{SketchOf(shared, population(rng, 40, 1, .1, .4)), 1}}
	for _, test := range []struct {
		name         string
		best, first  float64 // of the node's own, and of the evaluation
		alone, peers bool    // whether it stops
	}{
		{"second of the node's own, and among the best third of all", .89, .9, true, false},
		{"second of the node's own, and worse than the median of all", 1, 1.05, true, true},
		{"best of the node's own", 3, 2, false, false},
	} {
		own := []Trial{falling(test.best, .4)}
		alone := Decide(shared, task.Minimize, curve(test.first), 0, own, nil)
		with := Decide(shared, task.Minimize, curve(test.first), 0, own, peers)
		if (alone != nil) != test.alone || (with != nil) != test.peers {
			t.Errorf("%s: alone %v, with peers %v", test.name, alone, with)
		}
	}
	// The same with all signs reversed.
	mirror := slices.Clone(peers[0].Sketch)
	for i := range mirror {
		mirror[i].Values = protocol.Quartiles{-mirror[i].Values[2], -mirror[i].Values[1], -mirror[i].Values[0]}
	}
	if stop := Decide(shared, task.Maximize, curve(-1.05), 0, []Trial{falling(-1, -.4)}, []Peer{{mirror, 1}}); stop == nil {
		t.Error("maximising, a worse one continues")
	}
	if stop := Decide(shared, task.Maximize, curve(-.9), 0, []Trial{falling(-.89, -.4)}, []Peer{{mirror, 1}}); stop != nil {
		t.Errorf("maximising, a good one stops: %v", stop)
	}
}

func TestForecastByPeers(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	peers := []Peer{{SketchOf(shared, population(rng, 200, 5, 1, .4)), .9}, {SketchOf(shared, population(rng, 200, 5, 1, .6)), .9}}
	mean, deviation, ok := ForecastByPeers(shared, curve(1, .9), peers)
	if !ok || math.Abs(mean-.5) > .05 || deviation < .08 || deviation > .2 {
		t.Errorf("%v ± %v, %t; expected .5 ± .14", mean, deviation, ok)
	}
	late, _, ok := ForecastByPeers(shared, curve(1, .9, .8, .7), peers) // from step 3 on, three quarters of the changes remain
	if !ok || math.Abs(late-(.8-.375)) > .05 {
		t.Errorf("%v, %t; expected .425", late, ok)
	}
	if _, _, ok := ForecastByPeers(shared, Curve{}, peers); ok {
		t.Error("a forecast without a value")
	}
	unfinished := []Trial{{Curve: curve(1)}, {Curve: curve(1)}, {Curve: curve(2)}, {Curve: curve(2)}}
	if _, _, ok := ForecastByPeers(shared, curve(1), []Peer{{SketchOf(shared, unfinished), 1}}); ok {
		t.Error("a forecast without complete evaluations of peers")
	}
}

// TestHostileSketches: whatever a peer publishes, the best of the node's own evaluations at a rung
// continues, and forecasts are finite.
func TestHostileSketches(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	extremes := []float64{-protocol.MaxUnit, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, .5, 1, protocol.MaxUnit}
	drawn := func() (q protocol.Quartiles) {
		for i := range q {
			q[i] = extremes[rng.IntN(len(extremes))]
		}
		slices.Sort(q[:])
		return q
	}
	for range 2000 {
		var sketches []Sketch
		for range 1 + rng.IntN(3) {
			var s Sketch
			for range 1 + rng.IntN(3) {
				s = append(s, protocol.CurveRung{Count: math.MaxInt32, Values: drawn(), Complete: math.MaxInt32, Changes: drawn()})
			}
			sketches = append(sketches, s)
		}
		own := population(rng, 2+rng.IntN(4), .5, .3, .2)
		peers := Judge(shared, own, sketches)
		best := math.Inf(1)
		for _, o := range own {
			best = min(best, o.Curve[0].Value)
		}
		if stop := Decide(shared, task.Minimize, curve(best-.01), 0, own, peers); stop != nil {
			t.Fatalf("the best evaluation stops: %v, %+v", stop, sketches)
		}
		mean, deviation, ok := ForecastByPeers(shared, curve(best), peers)
		if ok && (math.IsNaN(mean) || math.IsInf(mean, 0) || !(deviation >= 0) || math.IsInf(deviation, 0)) {
			t.Fatalf("%v ± %v from %+v", mean, deviation, sketches)
		}
	}
}
