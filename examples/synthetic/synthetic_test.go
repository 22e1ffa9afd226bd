package synthetic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func mustGenerate(t testing.TB, c Config) *Data {
	t.Helper()
	d, err := Generate(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGenerateIsReproducible(t *testing.T) {
	c := Config{Seed: 3, Node: 2, Alpha: 1, Beta: 1}
	d := mustGenerate(t, c)
	if !reflect.DeepEqual(d, mustGenerate(t, c)) {
		t.Fatal("the same configuration gave other data")
	}
	if len(d.TrainX) != 280 || len(d.TrainY) != 280 || len(d.ValidX) != 120 || len(d.ValidY) != 120 {
		t.Fatalf("split %d/%d", len(d.TrainX), len(d.ValidX))
	}
	for _, other := range []Config{{Seed: 4, Node: 2, Alpha: 1, Beta: 1}, {Seed: 3, Node: 1, Alpha: 1, Beta: 1}} {
		if reflect.DeepEqual(d.TrainX, mustGenerate(t, other).TrainX) {
			t.Errorf("%+v gave the same inputs", other)
		}
	}
}

// The mean input of a node is B_k plus noise of variance 1/60, so its variance
// over nodes is about beta. With 300 nodes the standard error of a variance is
// sqrt(2/299), 8 %; the bounds are four of them.
func TestInputsDifferMoreWithBeta(t *testing.T) {
	for _, beta := range []float64{0, 0.25, 1, 4} {
		var means []float64
		for node := range 300 {
			d := mustGenerate(t, Config{Seed: 1, Node: node, Beta: beta, Samples: 20})
			sum := 0.0
			for _, x := range d.TrainX {
				for _, v := range x {
					sum += v / float64(len(x)*len(d.TrainX))
				}
			}
			means = append(means, sum)
		}
		want := beta + 1.0/60
		if got := variance(means); math.Abs(got-want) > 0.33*want+0.002 {
			t.Errorf("beta %g: variance of the mean input %.3f, want about %.3f", beta, got, want)
		}
	}
}

func variance(v []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return sum / float64(len(v)-1)
}

// Inputs spread as the paper says: variance j^-1.2. With 5,000 samples a
// variance is known to 2 %; the bounds are five of them.
func TestInputVariances(t *testing.T) {
	d := mustGenerate(t, Config{Samples: 10_000, Alpha: 1, Beta: 1})
	for _, j := range []int{1, 2, 10, 60} {
		column := make([]float64, 5000)
		for i := range column {
			column[i] = d.TrainX[i][j-1]
		}
		want := math.Pow(float64(j), -1.2)
		if got := variance(column); math.Abs(got-want) > 0.1*want {
			t.Errorf("input %d: variance %.4f, want %.4f", j, got, want)
		}
	}
}

// Nodes with little to learn are passed over, and the others keep their order.
func TestGenerateMixed(t *testing.T) {
	var mixed []*Data
	for node := 0; len(mixed) < 4; node++ {
		if d := mustGenerate(t, Config{Seed: 1, Node: node, Beta: 1}); d.majority() <= 0.8 {
			mixed = append(mixed, d)
		}
	}
	for node, want := range mixed {
		if d, err := GenerateMixed(Config{Seed: 1, Node: node, Beta: 1}, 0.8); err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("node %d: other data, %v", node, err)
		}
	}
	if d, err := GenerateMixed(Config{Seed: 1, Node: 3, Beta: 1}, 1); err != nil || !reflect.DeepEqual(d, mustGenerate(t, Config{Seed: 1, Node: 3, Beta: 1})) {
		t.Errorf("with a majority of 1: other data, %v", err)
	}
	for _, c := range []struct {
		config   Config
		majority float64
	}{{Config{}, 0}, {Config{}, 1.1}, {Config{}, 0.01}, {Config{Node: -1}, 1}} {
		if _, err := GenerateMixed(c.config, c.majority); err == nil {
			t.Errorf("%+v, majority %g: no error", c.config, c.majority)
		}
	}
}

func TestStandardize(t *testing.T) {
	d, raw := mustGenerate(t, Config{Seed: 3, Beta: 1}), mustGenerate(t, Config{Seed: 3, Beta: 1})
	d.Standardize()
	ratio := (d.ValidX[1][7] - d.ValidX[0][7]) / (raw.ValidX[1][7] - raw.ValidX[0][7])
	for _, j := range []int{0, 7, 59} {
		var column []float64
		sum := 0.0
		for _, x := range d.TrainX {
			column = append(column, x[j])
			sum += x[j]
		}
		n := float64(len(column))
		if v := variance(column) * (n - 1) / n; math.Abs(sum) > 1e-9 || math.Abs(v-1) > 1e-9 {
			t.Errorf("input %d: sum %g, variance %g", j, sum, v)
		}
	}
	if again := (d.TrainX[1][7] - d.TrainX[0][7]) / (raw.TrainX[1][7] - raw.TrainX[0][7]); math.Abs(again-ratio) > 1e-9 {
		t.Errorf("training inputs scaled by %g, validation inputs by %g", again, ratio)
	}
	if !reflect.DeepEqual(d.TrainY, raw.TrainY) || !reflect.DeepEqual(d.ValidY, raw.ValidY) {
		t.Error("classes changed")
	}
}

// Alpha moves the scores of all classes together, as the documentation of Config
// says, so that it must not move a label.
func TestAlphaDoesNotMoveLabels(t *testing.T) {
	for node := range 5 {
		a := mustGenerate(t, Config{Node: node, Beta: 1})
		b := mustGenerate(t, Config{Node: node, Alpha: 4, Beta: 1})
		if !reflect.DeepEqual(a, b) {
			t.Errorf("node %d: alpha moved a label", node)
		}
	}
}

func TestGenerateRejectsInvalidConfig(t *testing.T) {
	for _, c := range []Config{
		{Node: -1}, {Alpha: -1}, {Alpha: math.NaN()}, {Beta: -1}, {Beta: math.Inf(1)}, {Common: -0.1}, {Common: 1.1}, {Common: math.NaN()}, {Samples: 19}, {Samples: 100_001},
	} {
		if _, err := Generate(c); err == nil {
			t.Errorf("accepted %+v", c)
		}
	}
	d := mustGenerate(t, Config{Samples: 20})
	good := Hyperparameters{LearningRate: 0.1, BatchSize: 10, Epochs: 1}
	for name, spoil := range map[string]func(*Hyperparameters){
		"learning rate": func(h *Hyperparameters) { h.LearningRate = 0 },
		"infinite rate": func(h *Hyperparameters) { h.LearningRate = math.Inf(1) },
		"l2":            func(h *Hyperparameters) { h.L2 = math.NaN() },
		"momentum":      func(h *Hyperparameters) { h.Momentum = 1 },
		"batch":         func(h *Hyperparameters) { h.BatchSize = 0 },
		"epochs":        func(h *Hyperparameters) { h.Epochs = 0 },
		"optimizer":     func(h *Hyperparameters) { h.Optimizer = "lbfgs" },
	} {
		h := good
		spoil(&h)
		if _, err := Train(t.Context(), d, h, 1); err == nil {
			t.Errorf("accepted a wrong %s", name)
		}
	}
	if _, err := Average(t.Context(), d, good, 1, 0); err == nil {
		t.Error("accepted no training at all")
	}
}

func TestGradientAgreesWithDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, classes, dim, l2 = 7, 4, 5, 0.3
	x, y := make([][]float64, rows), make([]int, rows)
	for i := range x {
		y[i] = rng.IntN(classes)
		for range dim {
			x[i] = append(x[i], rng.NormFloat64())
		}
	}
	for name, m := range map[string]learner{
		"regression": newModel(classes, dim),
		"network":    newNetwork(Network{Inputs: 3, Hidden: 6}, classes, rng),
	} {
		parameters := m.flat()
		for i := range parameters {
			parameters[i] = rng.NormFloat64()
		}
		batch := []int{0, 2, 3, 6}
		grad, scores := make([]float64, len(parameters)), make([]float64, classes)
		scratch := make([]float64, len(parameters))
		m.gradient(grad, batch, x, y, l2, scores)
		const step = 1e-5 // the error of the difference is about step squared
		for i, p := range parameters {
			parameters[i] = p + step
			above := m.gradient(scratch, batch, x, y, l2, scores)
			parameters[i] = p - step
			below := m.gradient(scratch, batch, x, y, l2, scores)
			parameters[i] = p
			if want := (above - below) / (2 * step); math.Abs(grad[i]-want) > 1e-8 {
				t.Errorf("%s, parameter %d: gradient %.10f, difference %.10f", name, i, grad[i], want)
			}
		}
	}
}

// A network with all inputs learns more than a guess, the same again for the same seed, and refuses
// sizes that it cannot have.
func TestTrainNetwork(t *testing.T) {
	h := Hyperparameters{LearningRate: 0.02, L2: 1e-5, Momentum: 0.8, BatchSize: 8, Epochs: 20}
	d := mustGenerate(t, Config{Seed: 1, Alpha: 1, Beta: 1})
	full := Network{Inputs: d.Dim, Hidden: 32}
	score, err := TrainNetwork(t.Context(), d, full, h, 1)
	if err != nil {
		t.Fatal(err)
	}
	if majority, entropy := baseline(d); score.Loss >= entropy || score.Accuracy <= majority {
		t.Errorf("loss %.3f (class frequencies: %.3f), accuracy %.3f (majority: %.3f)", score.Loss, entropy, score.Accuracy, majority)
	}
	if again, err := TrainNetwork(t.Context(), d, full, h, 1); err != nil || again != score {
		t.Errorf("again %v, %v; expected %v", again, err, score)
	}
	if other, err := TrainNetwork(t.Context(), d, full, h, 2); err != nil || other == score {
		t.Errorf("another seed gives %v, %v", other, err)
	}
	if n := (Network{Inputs: 3, Hidden: 4}).Multiplications(10); n != 4*3+10*4 {
		t.Errorf("%d multiplications", n)
	}
	for _, wrong := range []Network{{Inputs: 0, Hidden: 1}, {Inputs: d.Dim + 1, Hidden: 1}, {Inputs: 1, Hidden: 0}} {
		if _, err := TrainNetwork(t.Context(), d, wrong, h, 1); err == nil {
			t.Errorf("accepted %+v", wrong)
		}
	}
}

func TestTrainingBeatsTheMajorityClass(t *testing.T) {
	for _, optimizer := range []string{"sgd", "nesterov", "adam"} {
		h := Hyperparameters{LearningRate: 0.05, L2: 1e-5, Momentum: 0.8, BatchSize: 8, Epochs: 20, Optimizer: optimizer}
		for node := range 4 {
			d := mustGenerate(t, Config{Seed: 1, Node: node, Alpha: 1, Beta: 1})
			score, err := Train(t.Context(), d, h, 1)
			if err != nil {
				t.Fatal(err)
			}
			majority, entropy := baseline(d)
			if score.Loss >= entropy || score.Accuracy < majority {
				t.Errorf("%s on node %d: loss %.3f (class frequencies: %.3f), accuracy %.3f (majority: %.3f)",
					optimizer, node, score.Loss, entropy, score.Accuracy, majority)
			}
		}
	}
}

// baseline returns the accuracy of always naming the class most frequent in
// training, and the loss of predicting the (smoothed) class frequencies.
func baseline(d *Data) (accuracy, loss float64) {
	counts := make([]float64, d.Classes)
	for _, y := range d.TrainY {
		counts[y]++
	}
	most := slices.Index(counts, slices.Max(counts))
	n := float64(len(d.ValidY))
	for _, y := range d.ValidY {
		if y == most {
			accuracy += 1 / n
		}
		loss -= math.Log((counts[y]+1)/float64(len(d.TrainY)+d.Classes)) / n
	}
	return accuracy, loss
}

func TestTrainIsReproducible(t *testing.T) {
	d := mustGenerate(t, Config{Beta: 1})
	h := Hyperparameters{LearningRate: 0.1, Momentum: 0.5, BatchSize: 16, Epochs: 3}
	first, err := Train(t.Context(), d, h, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Train(t.Context(), d, h, 1)
	other, _ := Train(t.Context(), d, h, 2)
	if first != again || first == other {
		t.Errorf("seed 1: %v, %v; seed 2: %v", first, again, other)
	}
	mean, err := Average(t.Context(), d, h, 1, 2)
	if want := (first.Loss + other.Loss) / 2; err != nil || math.Abs(mean.Loss-want) > 1e-12 {
		t.Errorf("average %v, %v; want %g", mean, err, want)
	}
}

func TestTrainReportsDivergence(t *testing.T) {
	d := mustGenerate(t, Config{Beta: 1})
	h := Hyperparameters{LearningRate: 1e6, L2: 1, Momentum: 0.99, BatchSize: 1, Epochs: 20}
	if _, err := Train(t.Context(), d, h, 1); !errors.Is(err, ErrDiverged) {
		t.Fatalf("got %v", err)
	}
}

func TestTrainStops(t *testing.T) {
	d := mustGenerate(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := Hyperparameters{LearningRate: 0.1, BatchSize: 1, Epochs: 1_000_000}
	if _, err := Train(ctx, d, h, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func Example() {
	data, err := Generate(Config{Seed: 1, Node: 2, Alpha: 1, Beta: 1})
	if err != nil {
		panic(err)
	}
	h := Hyperparameters{LearningRate: 0.13, L2: 1e-5, Momentum: 0.84, BatchSize: 6, Epochs: 20, Optimizer: "nesterov"}
	score, err := Average(context.Background(), data, h, 1, 3)
	if err != nil {
		panic(err)
	}
	fmt.Printf("validation loss %.2f, accuracy %.2f\n", score.Loss, score.Accuracy)
	// Output: validation loss 0.06, accuracy 0.98
}

func BenchmarkTrain(b *testing.B) {
	d := mustGenerate(b, Config{Beta: 1})
	h := Hyperparameters{LearningRate: 0.1, Momentum: 0.5, BatchSize: 16, Epochs: 20}
	for b.Loop() {
		if _, err := Train(b.Context(), d, h, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// With everything in common one model labels the samples of all nodes, and their inputs have mean 0.
func TestNodesInCommonHaveOneModel(t *testing.T) {
	of := func(node int, common float64) (*Data, *Data) {
		return mustGenerate(t, Config{Seed: 3, Node: node, Common: common, Samples: 1000}), mustGenerate(t, Config{Seed: 3, Node: node + 1, Common: common, Samples: 1000})
	}
	h := Hyperparameters{LearningRate: 0.1, Momentum: 0.8, BatchSize: 20, Epochs: 20}
	transfer := func(common float64) float64 {
		a, b := of(0, common)
		score, err := Train(t.Context(), &Data{TrainX: a.TrainX, TrainY: a.TrainY, ValidX: b.ValidX, ValidY: b.ValidY, Classes: a.Classes, Dim: a.Dim}, h, 1)
		if err != nil {
			t.Fatal(err)
		}
		return score.Accuracy
	}
	if one, none := transfer(1), transfer(0); one < 0.6 || none > 0.4 {
		t.Errorf("accuracy on another node's data: %g with one model, %g with two", one, none)
	}
	a, _ := of(0, 1)
	for j := range a.Dim {
		mean := 0.0
		for _, x := range a.TrainX {
			mean += x[j] / float64(len(a.TrainX))
		}
		if math.Abs(mean) > 0.2 {
			t.Errorf("input %d has mean %g", j, mean)
		}
	}
}
