package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func TestPlansOfAdversariesAreChecked(t *testing.T) {
	for strategies, want := range map[string]string{
		"peer-prior:adversaries=0":                                        `adversaries must be a whole number from 1 to 100, not "0"`,
		"peer-prior:adversaries=1.5":                                      `not "1.5"`,
		"peer-prior:adversaries=101":                                      `not "101"`,
		"peer-prior:attack=random":                                        "there are no adversaries",
		"peer-prior:adversaries=2,attack=white":                           `not "white"`,
		"together:adversaries=2":                                          "who is on a roster is fixed",
		"logei:adversaries=2":                                             "uses no shares of peers",
		"random:adversaries=2":                                            "the baseline random accepts no settings",
		"peer-prior:adversaries=2,peer-prior:adversaries=2,attack=random": "it is the same as",
		"peer-prior:adversaries=2,attack=decoy,peer-prior:attack=decoy,adversaries=2": "it is the same as",
	} {
		p := Plan{Agents: 3, Evaluations: 6, Repeats: 1, Own: ownStrategies(), Family: familyOf(t, "gp:d=1"), Strategies: specsOf(t, strategies)}
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", strategies, err, want)
		}
	}
}

// TestAdversariesJoinTheHonest checks that honest agents receive the shares of every kind of
// adversary and keep their objectives, noise and initial designs. Results cover only the agents
// that the plan counts.
func TestAdversariesJoinTheHonest(t *testing.T) { checkAdversaries(t, "peer-prior") }

// checkAdversaries runs each strategy without adversaries, and with four adversaries of each kind.
func checkAdversaries(t *testing.T, strategies ...string) {
	for _, name := range strategies {
		text := name
		separator := ":"
		if strings.Contains(name, ":") {
			separator = ","
		}
		for _, attack := range Attacks() {
			text += "," + name + separator + "adversaries=4,attack=" + attack
		}
		p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, text) })
		f := drawn(t, p)
		honest := playAll(t, p, f)[name]
		for _, s := range p.Strategies[1:] {
			evaluations := 0
			r, err := p.play(t.Context(), 0, s, f, 1, func() { evaluations++ })
			if err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			if len(r.Members) != p.Agents || !r.complete(p) || evaluations != p.Agents*p.Evaluations {
				t.Errorf("%s: %d members after %d evaluations", s, len(r.Members), evaluations)
			}
			same := true
			for i, m := range r.Members {
				if !slices.Equal(m.Regret[:1], honest.Members[i].Regret[:1]) {
					t.Errorf("%s: agent %d starts with regret %v, without adversaries %v", s, i, m.Regret[0], honest.Members[i].Regret[0])
				}
				same = same && slices.Equal(m.Regret, honest.Members[i].Regret)
			}
			if same {
				t.Errorf("%s: the adversaries influence no agent", s)
			}
		}
	}
}

const mixedParameters = `
name: mixed
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: n, type: int, low: 1, high: 4}
  - {name: kind, type: categorical, choices: [a, b, c]}
`

func TestWhatIsShiftedIsElsewhere(t *testing.T) {
	mixed, err := Plan{}.known().Parse("mixed", []byte(mixedParameters))
	if err != nil {
		t.Fatal(err)
	}
	at := func(x float64, n int64, kind string) string {
		d, err := mixed.Space.NewDesign(task.FloatValue(x), task.IntValue(n), task.ChoiceValue(kind))
		if err != nil {
			t.Fatal(err)
		}
		return shifted(mixed.Space, d).String()
	}
	for got, want := range map[string]string{
		at(0.25, 1, "a"): "x=0.75 n=3 kind=c",
		at(0.75, 3, "b"): "x=0.25 n=1 kind=a",
		at(0.5, 4, "c"):  "x=0 n=2 kind=b",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A decoy is better than all that is true, and where an honest agent finds the worst of a
// thousand random designs; elsewhere all is true.
func TestDecoyIsTheBestOfTheWorst(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Family = familyOf(t, "gp:d=2") })
	f := drawn(t, p)
	honest, liar := f.Members[1].Objective, f.adversary(attackDecoy, 1).Objective
	rng := random.SeedOf(1).Stream("designs", 0)
	best, told, there, untouched := math.Inf(-1), math.Inf(-1), 0.0, 0
	var values []float64
	for range 1000 {
		d := f.Space.Decode(acquisition.Sample(f.Space, rng))
		v := honest.Value(d)
		values, best = append(values, v), max(best, v)
		if claim := liar.Value(d); claim > told {
			told, there = claim, v
		} else if math.Abs(claim-v) < 0.01 {
			untouched++
		}
	}
	if told < best || there > quantile(values, 0.05) || untouched < 500 {
		t.Errorf("the best is %g, where %g is told it is %g; %d designs of 1000 are told as they are", best, told, there, untouched)
	}
}

func TestReversedAndForgedAdversaries(t *testing.T) {
	f := drawn(t, tiny(t, nil))
	d := f.Space.Decode([]float64{0.3})
	if got, want := f.adversary(attackReversed, 0).Objective.Value(d), -f.Members[0].Objective.Value(d); got != want {
		t.Errorf("told is %g, want %g", got, want)
	}
	for attack, want := range map[string][3]bool{attackRandom: {true, false, false}, attackCorner: {true, true, false}, attackExtreme: {true, false, true}, attackShifted: {}} {
		if m := f.adversary(attack, 0); [3]bool{m.Forged, m.Corner, m.Extreme} != want || m.Counts {
			t.Errorf("%s: %+v", attack, m)
		}
	}
}

// What is extreme is as large as a decoder takes.
func TestExtremeShares(t *testing.T) {
	p := tiny(t, nil)
	forged := func(s Spec, kind string, encode func(own *task.Task) ([]byte, error)) (*task.Task, []byte) {
		t.Helper()
		own, err := p.template(s)
		if err != nil {
			t.Fatal(err)
		}
		payload, err := encode(own)
		if err != nil {
			t.Fatal(err)
		}
		f := newForger(own, p.registrationOf(s), random.SeedOf(1), 0, strategy.Forgery{Extreme: true})
		payload = f.forge(kind, payload)
		if f.err != nil {
			t.Fatal(f.err)
		}
		return own, payload
	}
	exact := specsOf(t, "peer-prior:share=exact")[0]
	own, payload := forged(exact, "mean", func(own *task.Task) ([]byte, error) {
		zeros := make([]float64, own.Surrogate.Features)
		return protocol.Mean{Observations: 3, Scale: 1, Values: zeros, ExplainedWeights: zeros}.Encode()
	})
	mean, err := protocol.DecodeMean(payload, own.Surrogate.Features, own.Space.Len())
	if err != nil || mean.Level != protocol.MaxUnit || mean.Scale != protocol.MaxUnit || mean.Explained != 1 || math.Abs(mean.Values[0]) != protocol.MaxWeight {
		t.Errorf("a mean of level %g, scale %g, explained %g, %v", mean.Level, mean.Scale, mean.Explained, err)
	}
	own, payload = forged(exact, protocol.DensityKind, func(own *task.Task) ([]byte, error) {
		centre := protocol.PointOf(own.Space, own.Space.Decode([]float64{0.5}))
		return protocol.Density{Observations: 3, Components: []protocol.Component{{Weight: 1, Std: 0.2, Center: centre}}}.Encode(own.Space)
	})
	density, err := protocol.DecodeDensity(payload, own.Space)
	if err != nil || density.Observations != math.MaxInt32 || density.Components[0].Center.Coordinates[0] != 1 {
		t.Errorf("%+v, %v", density, err)
	}
	own, payload = forged(Spec{Name: "fts"}, "draw", func(own *task.Task) ([]byte, error) {
		return protocol.Weights{Observations: 3, Values: make([]float64, own.Surrogate.Features)}.Encode()
	})
	weights, err := protocol.DecodeWeights(payload, own.Surrogate.Features)
	if err != nil || slices.ContainsFunc(weights.Values, func(v float64) bool { return math.Abs(v) != protocol.MaxWeight }) {
		t.Errorf("%v, %v", weights.Values, err)
	}
}
