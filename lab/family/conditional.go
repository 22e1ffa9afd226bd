package family

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// Values of the key of: the functions of conditional spaces.
const (
	ofClassifiers = "classifiers"
	ofTree        = "tree"
	ofNetwork     = "network"
)

func conditionalKind() Kind {
	keys := []Key{
		{Name: "of", Type: Choice, Default: ofClassifiers, Choices: []string{ofClassifiers, ofTree, ofNetwork},
			Meaning: "the function: settings of one of two classifiers, a tree of three levels with five leaves, or a network of one to four layers"},
		{Name: "shift", Type: Number, Default: "0.05", Low: 0, High: 0.2,
			Meaning: "each member's best values are moved by up to this part of their ranges"},
		noiseKey("1"),
	}
	return Kind{
		Info: Info{
			Name:  "conditional",
			About: "functions of parameters that are active only with some values of others, moved a little for every member, to be minimised; clusters have their optimum on different branches",
			Keys:  append(keys, compositionKeys()...),
		},
		Build: buildConditional,
	}
}

func buildConditional(v Values) (*task.Space, DrawFunc, error) {
	switch others := v.Choice(othersKey); others {
	case deceptive, constant, noisy:
		return nil, nil, fmt.Errorf("key %s=%s: such members need a function in units of its deviation; expected another family", othersKey, others)
	}
	kinds := map[string]struct {
		parameters []task.Parameter
		member     func(cluster int, moved func() float64) branching
	}{
		ofClassifiers: {classifierParameters(), classifiers},
		ofTree:        {treeParameters(), tree},
		ofNetwork:     {networkParameters(), network},
	}
	kind := kinds[v.Choice("of")]
	space, err := task.NewSpace(kind.parameters)
	if err != nil {
		return nil, nil, err
	}
	return build(v, space, func(seed random.Seed) (source, error) {
		return source{space: space, goal: task.Minimize, noise: v.Number("noise"), member: func(cluster, k int) function {
			rng := seed.Stream("own", uint64(k))
			b := kind.member(cluster, func() float64 { return v.Number("shift") * (2*rng.Float64() - 1) })
			return function{
				value:   func(u []float64) float64 { return b.value(space.Decode(u)) },
				optimum: func() float64 { return b.optimum },
			}
		}}, nil
	})
}

// branching is a function of the designs of a conditional space, with its smallest value.
type branching struct {
	value   func(d task.Design) float64
	optimum float64
}

func square(v float64) float64 { return v * v }

// nearestTo returns the smallest value of f at the two whole multiples of step around v.
func nearestTo(v, step float64, f func(v float64) float64) float64 {
	return min(f(step*math.Floor(v/step)), f(step*math.Ceil(v/step)))
}

func classifierParameters() []task.Parameter {
	when := func(choice string) []task.Condition {
		return []task.Condition{task.Equals("classifier", task.ChoiceValue(choice))}
	}
	return []task.Parameter{
		{Name: "classifier", Kind: task.Categorical, Choices: []string{"SVC", "RandomForest"}},
		{Name: "svc_c", Kind: task.Float, Low: 1e-4, High: 1e4, Scale: task.Log, When: when("SVC")},
		{Name: "svc_gamma", Kind: task.Float, Low: 1e-5, High: 10, Scale: task.Log, When: when("SVC")},
		{Name: "rf_max_depth", Kind: task.Int, Low: 2, High: 32, When: when("RandomForest")},
		{Name: "rf_n", Kind: task.Int, Low: 2, High: 32, Step: 2, When: when("RandomForest")},
	}
}

// classifiers has the space of the example in Optuna's documentation, with a formula in place of the
// classifiers:
//
//	SVC:          a + ((log10(svc_c) - 1)² + (log10(svc_gamma) + 2)²)/10
//	RandomForest: b + |rf_max_depth - 20|/30 + |rf_n - 10|/50
//
// with a = 0 and b = 0.1, or a = 0.1 and b = 0 in clusters with an odd number. Without a shift the
// minimum is 0, at svc_c = 10 and svc_gamma = 0.01, or at depth 20 and n 10.
func classifiers(cluster int, moved func() float64) branching {
	a, b := 0.0, 0.1
	if cluster%2 == 1 {
		a, b = b, a
	}
	c, gamma, depth, n := 1+8*moved(), -2+6*moved(), 20+30*moved(), 10+30*moved()
	deep := func(v float64) float64 { return math.Abs(v-depth) / 30 }
	many := func(v float64) float64 { return math.Abs(v-n) / 50 }
	return branching{
		value: func(d task.Design) float64 {
			if d.Choice("classifier") == "SVC" {
				return a + (square(math.Log10(d.Float("svc_c"))-c)+square(math.Log10(d.Float("svc_gamma"))-gamma))/10
			}
			return b + deep(float64(d.Int("rf_max_depth"))) + many(float64(d.Int("rf_n")))
		},
		optimum: min(a, b+nearestTo(depth, 1, deep)+nearestTo(n, 2, many)),
	}
}

// Parameters of the tree: the choices of each root and the leaves, in one order.
var (
	treeLeaves  = [5]string{"ap", "aq", "ar", "bp", "bq"}
	treeOffsets = [5]float64{0.1, 0, 0.3, 0.05, 0.2}
	treeX       = [5]float64{0.3, 0.6, 0.8, 0.2, 0.5}
	treeY       = [5]float64{0.7, 0.25, 0.5, 0.4, 0.8}
)

func treeParameters() []task.Parameter {
	all := []task.Parameter{
		{Name: "x", Kind: task.Float, High: 1},
		{Name: "root", Kind: task.Categorical, Choices: []string{"a", "b"}},
		{Name: "a", Kind: task.Categorical, Choices: []string{"p", "q", "r"}, When: []task.Condition{task.Equals("root", task.ChoiceValue("a"))}},
		{Name: "b", Kind: task.Categorical, Choices: []string{"p", "q"}, When: []task.Condition{task.Equals("root", task.ChoiceValue("b"))}},
	}
	for _, leaf := range treeLeaves {
		all = append(all, task.Parameter{Name: "y_" + leaf, Kind: task.Float, High: 1,
			When: []task.Condition{task.Equals(leaf[:1], task.ChoiceValue(leaf[1:]))}})
	}
	return all
}

// tree is a function of three levels: root is a or b, the parameter of that name chooses the leaf,
// and each of the five leaves has a float y of its own. On leaf l it is
//
//	h + (x - u)² + 2(y_l - v)²
//
// with h, u and v of the leaf: ap 0.1, 0.3, 0.7; aq 0, 0.6, 0.25; ar 0.3, 0.8, 0.5; bp 0.05, 0.2, 0.4;
// bq 0.2, 0.5, 0.8. The minimum is 0. Cluster k has the h of the leaf 3k places before, so that the
// optimum of cluster 1 is on leaf bq.
func tree(cluster int, moved func() float64) branching {
	n := len(treeLeaves)
	var offsets, us, vs [5]float64
	for i := range n {
		offsets[(i+3*cluster)%n] = treeOffsets[i]
		us[i], vs[i] = treeX[i]+moved(), treeY[i]+moved()
	}
	return branching{value: func(d task.Design) float64 {
		leaf := d.Choice("root")
		leaf += d.Choice(leaf)
		for i, name := range treeLeaves {
			if name == leaf {
				return offsets[i] + square(d.Float("x")-us[i]) + 2*square(d.Float("y_"+leaf)-vs[i])
			}
		}
		return math.NaN()
	}}
}

const maxLayers = 4

func networkParameters() []task.Parameter {
	all := []task.Parameter{
		{Name: "rate", Kind: task.Float, Low: 1e-4, High: 0.1, Scale: task.Log},
		{Name: "layers", Kind: task.Int, Low: 1, High: maxLayers},
	}
	for i := 1; i <= maxLayers; i++ {
		p := task.Parameter{Name: fmt.Sprintf("width_%d", i), Kind: task.Int, Low: 8, High: 512, Scale: task.Log}
		if i > 1 {
			p.When = []task.Condition{task.Between("layers", float64(i), math.Inf(1))}
		}
		all = append(all, p)
	}
	return all
}

// network is a function of the number n of layers, the width of each and the rate:
//
//	(log10(rate) + 2.5)²/2 + |n - m|/5 + Σ (log2(width_i) - 9 + i)²/(10 n), i from 1 to n
//
// with m = 3, and without a shift the minimum is 0, at widths 256, 128 and 64. Clusters have m = 3, 2,
// 1 and 4, in turn.
func network(cluster int, moved func() float64) branching {
	best := [maxLayers]int{3, 2, 1, 4}[cluster%maxLayers]
	rate := -2.5 + 3*moved()
	var widths [maxLayers]float64
	for i := range widths {
		widths[i] = 8 - float64(i) + 6*moved()
	}
	off := func(i int, width float64) float64 { return square(math.Log2(width) - widths[i]) }
	value := func(rateOff float64, n int, width func(i int) float64) float64 {
		sum := 0.0
		for i := range n {
			sum += width(i)
		}
		return rateOff/2 + math.Abs(float64(n-best))/5 + sum/float64(10*n)
	}
	b := branching{
		value: func(d task.Design) float64 {
			return value(square(math.Log10(d.Float("rate"))-rate), int(d.Int("layers")), func(i int) float64 {
				return off(i, float64(d.Int(fmt.Sprintf("width_%d", i+1))))
			})
		},
		optimum: math.Inf(1),
	}
	for n := 1; n <= maxLayers; n++ {
		b.optimum = min(b.optimum, value(0, n, func(i int) float64 {
			width := min(math.Exp2(widths[i]), 512)
			return nearestTo(width, 1, func(v float64) float64 { return off(i, v) })
		}))
	}
	return b
}
