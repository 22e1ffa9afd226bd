package agent

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// readers has every strategy that reads numbers of peers, with the settings that make it read
// most.
var readers = map[string]string{
	protocol.WeightsKind:     "type: fts, initial_designs: 2",
	protocol.MeanKind:        "type: peer-prior, share: exact, initial_designs: 2",
	protocol.CandidateKind:   "type: consensus, initial_designs: 2, weights: leader, rounds: 4, round_timeout: 1",
	protocol.NearOptimalKind: "type: constrained-gp, initial_designs: 2, threshold: open",
	protocol.DensityKind:     "type: density, initial_designs: 2",
}

// extremeRounds is the key rounds of the reader of candidates.
const extremeRounds = 4

var (
	extremeUnits   = []float64{0, 1, -1, protocol.MaxUnit, -protocol.MaxUnit, 1e-300, -1e-300, math.SmallestNonzeroFloat64}
	extremeScales  = []float64{1, protocol.MaxUnit, 1e-100, 1e-300, math.SmallestNonzeroFloat64}
	extremeWeights = []float64{0, 1e-3, 1, -1, protocol.MaxWeight, -protocol.MaxWeight, 1e-38}
	extremeOwn     = []float64{1, 1e-100, 1e-208, 1e-300, math.SmallestNonzeroFloat64 * 1e4, 1e100, 1e250, 1e306}
)

// drawPayload draws a payload of a kind that its decoder accepts.
func drawPayload(rt *rapid.T, spec *task.Task, kind string) (payload []byte, err error) {
	of := func(list []float64, label string) float64 { return rapid.SampledFrom(list).Draw(rt, label) }
	weights := func(label string) []float64 {
		values := make([]float64, spec.Surrogate.Features)
		same := of(extremeWeights, label)
		for i := range values {
			values[i] = same
			if rapid.Bool().Draw(rt, "another") {
				values[i] = of(extremeWeights, label)
			}
		}
		return values
	}
	observations := rapid.SampledFrom([]int{1, 5, math.MaxInt32}).Draw(rt, "observations")
	point := protocol.Point{Coordinates: []float64{of([]float64{0, 0.5, 1}, "coordinate")}, Choices: []int{rapid.IntRange(0, 2).Draw(rt, "choice")}}
	unit := of(extremeUnits, "unit")
	switch kind {
	case protocol.WeightsKind:
		return protocol.Weights{Observations: observations, Values: weights("weight")}.Encode()
	case protocol.MeanKind:
		m := protocol.Mean{
			Observations: observations, Explained: of([]float64{0.011, 0.5, 1}, "explained"),
			Level: unit, Scale: of(extremeScales, "scale"), Values: weights("value"), ExplainedWeights: weights("known"),
		}
		if rapid.Bool().Draw(rt, "lengthscales") {
			l := of([]float64{protocol.MinLengthscale, 1, protocol.MaxLengthscale}, "lengthscale")
			m.Lengthscales = []float64{l, protocol.MaxLengthscale}
		}
		return m.Encode()
	case protocol.CandidateKind:
		return protocol.Candidate{Round: rapid.IntRange(1, maxSlots).Draw(rt, "round"), Point: point, Response: &unit, VisiblePeers: 1}.Encode(spec.Space, extremeRounds)
	case protocol.NearOptimalKind:
		return protocol.NearOptimal{Observations: observations, Point: point, Bound: &unit}.Encode(spec.Space)
	case protocol.HyperparametersKind:
		h := protocol.Hyperparameters{}
		for i := range spec.Space.Len() + 1 {
			mean := of([]float64{0, -4.7, 2.2}, "mean")
			if i == spec.Space.Len() {
				mean = of([]float64{-3, -7}, "noise")
			}
			h.Means = append(h.Means, mean)
			h.Precisions = append(h.Precisions, of([]float64{0, 1e-38, 1, protocol.MaxPrecision}, "precision"))
		}
		return h.Encode()
	}
	spread := of([]float64{protocol.MinSpread, 0.1, protocol.MaxSpread}, "spread")
	return protocol.Density{Observations: observations, Components: []protocol.Component{{Weight: 1, Std: spread, Center: point}}}.Encode(spec.Space)
}

// Every strategy keeps suggesting designs of the space, whatever numbers within the decoders'
// bounds the shares have, and whatever the scale of its own outcomes.
func TestExtremeSharesStopNoStrategy(t *testing.T) { checkExtremeShares(t, "bowl") }

// checkExtremeShares runs every strategy, and the exchange of hyperparameters, on the named
// tasks.
func checkExtremeShares(t *testing.T, tasks ...string) {
	for kind, keys := range readers {
		for _, name := range tasks {
			t.Run(kind+" "+name, func(t *testing.T) { extremeShares(t, kind, newTask(t, name, keys)) })
		}
	}
	t.Run(protocol.HyperparametersKind, func(t *testing.T) {
		extremeShares(t, protocol.HyperparametersKind, newTask(t, "shared", "type: alone, initial_designs: 2"))
	})
}

// unevenBowl is the bowl with another value at each design. Three bad designs with exactly one value
// would count as a penalty, of which the agent warns.
func unevenBowl(d task.Design) float64 {
	value := bowl(d) + float64(d.Int("a"))/20
	if d.Choice("b") == "middle" {
		value += 0.037
	}
	return value
}

func extremeShares(t *testing.T, kind string, spec *task.Task) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDriver(t, configOf(t, spec, 1))
		scale := rapid.SampledFrom(extremeOwn).Draw(rt, "own scale")
		shift := rapid.SampledFrom([]float64{0, 0, 1, -1}).Draw(rt, "own level")
		objective := func(x task.Design) float64 { return scale * (shift + unevenBowl(x)/50) }
		sequence := uint64(0)
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for author := range rapid.IntRange(0, 3).Draw(rt, "authors") {
				payload, err := drawPayload(rt, spec, kind)
				if err != nil {
					rt.Fatalf("no decoder would take this: %v", err)
				}
				sequence++
				share := say(t, d, fbotest.Key(t, 10+author), kind, slotOf(t, d, kind, payload), protocol.Stamp{Epoch: 1, Sequence: sequence}, time.Hour, payload)
				if result := d.receive(share); result != Accepted {
					rt.Fatalf("a share was %v", result)
				}
			}
			for range rapid.IntRange(1, 3).Draw(rt, "trials") {
				d.requests++
				d.agent.Ask(d.now, d.requests)
				d.carryOut()
				d.pass(time.Minute) // a strategy may wait for a round to end
				answer := d.answers[len(d.answers)-1]
				if answer.Request != d.requests || answer.Err != nil {
					rt.Fatalf("no design: %v", answer.Err)
				}
				if err := checkInSpace(spec, answer.Trial.Design); err != nil {
					rt.Fatal(err)
				}
				d.tell(answer.Trial.ID, objective(answer.Trial.Design))
			}
		}
		if warned := d.warnings(); len(warned) > 0 {
			rt.Fatalf("warnings: %q", warned)
		}
	})
}

// A statement of a function in common that is valid, and that no model can be made of,
// costs what peers say: the own process learns all the same.
func TestAStatementThatNobodyCanUse(t *testing.T) {
	spec := newTask(t, "latent", "type: alone, initial_designs: 2")
	const points = 30 // of a statement
	payload, err := protocol.Latent{Observations: math.MaxInt32, Lengthscales: []float64{100, protocol.MinLengthscale}}.Encode(points)
	if err != nil {
		t.Fatal(err)
	}
	alone, d := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 1))
	if v := d.receive(say(t, d, fbotest.Key(t, 9), protocol.LatentKind, 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, payload)); v != Accepted {
		t.Fatalf("the statement: %v", v)
	}
	for range 5 {
		for _, each := range []*driver{alone, d} {
			trial := each.ask()
			each.tell(trial.ID, bowl(trial.Design))
		}
		if known, all := d.agent.Modelled(); !all {
			t.Fatalf("the model knows %d", known)
		}
	}
	if statements := d.warnings(); len(statements) != 1 || !strings.Contains(statements[0], "without peer information") {
		t.Errorf("warnings %q", statements)
	}
	if got, want := show(d.agent.Trials()), show(alone.agent.Trials()); got != want {
		t.Errorf("trials %s, without a peer %s", got, want)
	}
}

// slotOf is where an honest author puts a payload.
func slotOf(t testing.TB, d *driver, kind string, payload []byte) uint64 {
	t.Helper()
	value, err := d.agent.exchanges.byName[kind].Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return strategy.SlotOf(value)
}

func checkInSpace(spec *task.Task, design task.Design) error {
	encoded, err := design.MarshalJSON()
	if err == nil {
		_, err = spec.Space.UnmarshalDesign(encoded)
	}
	if err != nil {
		return fmt.Errorf("%v is no design: %w", design, err)
	}
	return nil
}

// warnings are what the user was told.
func (d *driver) warnings() (statements []string) {
	for _, e := range d.events {
		if e.Type == Warning {
			statements = append(statements, e.Message)
		}
	}
	return statements
}
