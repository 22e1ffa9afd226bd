package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/random"
)

// The sizes of the data set in the paper.
const (
	dimensions = 60
	classes    = 10
)

// trainShare is the fraction of samples for training; the rest is for validation.
const trainShare = 0.7

// defaultSamples is the number of samples of a node if Config.Samples is 0.
const defaultSamples = 400

// Config names the data of one node. The zero value is node 0 of
// Synthetic(0, 0).
type Config struct {
	// Seed names the federation.
	Seed uint64
	// Node is the index of the node in its federation, 0 or more.
	Node int
	// Alpha is the variance of u_k, the mean of a node's true weights; 0 to 100.
	//
	// In the paper it "controls how much local models differ". As published, in
	// text and program, u_k is one number for all classes, so it adds the same to
	// every class's score and cannot change a label: the labels do not depend on
	// Alpha. The package keeps it so that the data set is the published one. The models
	// of two nodes differ at every Alpha, because their weights are independent.
	Alpha float64
	// Beta is the variance of B_k, the mean of a node's inputs; 0 to 100. It
	// controls how much the inputs differ between nodes.
	Beta float64
	// Common is the fraction of the variance of a node's true weights that all nodes of the
	// federation have in common, and by which the variance of its mean inputs is reduced; 0 to 1. At
	// 1 the data is Synthetic_IID of the paper: nodes differ by their samples only.
	Common float64
	// Samples is the number of samples of the node, 20 to 100,000; 0 means 400.
	Samples int
}

func (c Config) validate() (Config, error) {
	if c.Samples == 0 {
		c.Samples = defaultSamples
	}
	if c.Node < 0 {
		return c, fmt.Errorf("node %d is below 0", c.Node)
	}
	// The negation rejects NaN as well.
	if !(c.Alpha >= 0 && c.Alpha <= 100) {
		return c, fmt.Errorf("alpha %g is not in [0, 100]", c.Alpha)
	}
	if !(c.Beta >= 0 && c.Beta <= 100) {
		return c, fmt.Errorf("beta %g is not in [0, 100]", c.Beta)
	}
	if !(c.Common >= 0 && c.Common <= 1) {
		return c, fmt.Errorf("common %g is not in [0, 1]", c.Common)
	}
	if c.Samples < 20 || c.Samples > 100_000 {
		return c, fmt.Errorf("%d samples are not in [20, 100000]", c.Samples)
	}
	return c, nil
}

// Data is the data of one node: rows of Dim numbers and their classes in [0,
// Classes).
type Data struct {
	TrainX, ValidX [][]float64
	TrainY, ValidY []int
	Classes, Dim   int
}

// Generate draws the data of a node k:
//
//	u_k ~ N(0, alpha)    W_k,cj ~ N(u_k, 1)    b_k,c ~ N(u_k, 1)
//	B_k ~ N(0, beta)     v_k,j ~ N(B_k, 1)     x ~ N(v_k, diag(j^-1.2))
//	y = argmax softmax(W_k x + b_k)
//
// with 10 classes c and 60 inputs j = 1...60; the second argument of N is a
// variance. The first 70 % of the samples, rounded down, are for training.
//
// With a fraction C in common, the weights are sqrt(C)·V + sqrt(1-C)·W_k with V ~ N(0, 1) of the
// federation, likewise the biases, and the mean inputs are sqrt(1-C)·v_k.
//
// It differs from the authors' program in two ways: that takes alpha and beta as
// standard deviations (the same for the values 0 and 1 of the paper's figures),
// and draws the number of samples of each node from a log-normal distribution.
func Generate(c Config) (*Data, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	seed := random.SeedOf(c.Seed).Derive("node", uint64(c.Node))
	labels := trueModel(c.Alpha, seed.Stream("model", 0))
	inputs := seed.Stream("inputs", 0)
	mean := inputMean(c.Beta, inputs)
	if c.Common > 0 {
		all := trueModel(0, random.SeedOf(c.Seed).Stream("common model", 0))
		weighSum(labels.parameters, math.Sqrt(1-c.Common), all.parameters, math.Sqrt(c.Common))
		weighSum(mean, math.Sqrt(1-c.Common), mean, 0)
	}

	d := &Data{Classes: classes, Dim: dimensions}
	train := int(trainShare * float64(c.Samples))
	scores := make([]float64, classes)
	for i := range c.Samples {
		x := make([]float64, dimensions)
		for j := range x {
			x[j] = mean[j] + inputs.NormFloat64()*math.Pow(float64(j+1), -1.2/2)
		}
		labels.scores(scores, x)
		if i < train {
			d.TrainX, d.TrainY = append(d.TrainX, x), append(d.TrainY, largest(scores))
		} else {
			d.ValidX, d.ValidY = append(d.ValidX, x), append(d.ValidY, largest(scores))
		}
	}
	return d, nil
}

// GenerateMixed is Generate, but counts as nodes only those in whose training data no class
// has more than a share of majority: the others have little to learn.
func GenerateMixed(c Config, majority float64) (*Data, error) {
	const patience = 100 // nodes for each that is wanted
	if !(majority > 0 && majority <= 1) {
		return nil, fmt.Errorf("majority %g is not in (0, 1]", majority)
	}
	most := patience * (c.Node + 1)
	left := c.Node // to pass over; below 0 is an error of Generate
	for c.Node = min(left, 0); c.Node < max(most, 1); c.Node++ {
		d, err := Generate(c)
		if err != nil {
			return nil, err
		}
		if d.majority() > majority {
			continue
		}
		if left == 0 {
			return d, nil
		}
		left--
	}
	return nil, fmt.Errorf("hardly a node has classes of at most %g of its data", majority)
}

// majority is the share of the most frequent class in the training data.
func (d *Data) majority() float64 {
	counts := make([]float64, d.Classes)
	for _, class := range d.TrainY {
		counts[class]++
	}
	return slices.Max(counts) / float64(len(d.TrainY))
}

// trueModel draws the model that labels a node's samples.
func trueModel(alpha float64, rng *rand.Rand) *model {
	u := rng.NormFloat64() * math.Sqrt(alpha)
	m := newModel(classes, dimensions)
	for i := range m.parameters {
		m.parameters[i] = u + rng.NormFloat64()
	}
	return m
}

func inputMean(beta float64, rng *rand.Rand) []float64 {
	b := rng.NormFloat64() * math.Sqrt(beta)
	mean := make([]float64, dimensions)
	for j := range mean {
		mean[j] = b + rng.NormFloat64()
	}
	return mean
}

// weighSum sets a to a weighted sum of a and b.
func weighSum(a []float64, ofA float64, b []float64, ofB float64) {
	for i := range a {
		a[i] = ofA*a[i] + ofB*b[i]
	}
}

func largest(values []float64) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}

// Standardize shifts and scales each input so that over the training samples its mean
// is 0 and its variance 1, as is common before training. The classes stay.
func (d *Data) Standardize() {
	n := float64(len(d.TrainX))
	for j := range d.Dim {
		var mean, variance float64
		for _, x := range d.TrainX {
			mean += x[j] / n
		}
		for _, x := range d.TrainX {
			variance += (x[j] - mean) * (x[j] - mean) / n
		}
		for _, x := range slices.Concat(d.TrainX, d.ValidX) {
			x[j] = (x[j] - mean) / math.Sqrt(variance)
		}
	}
}
