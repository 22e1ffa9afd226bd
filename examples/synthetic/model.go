package synthetic

import "math"

// learner is a model with parameters that gradients fit.
type learner interface {
	flat() []float64 // the parameters
	scores(dst, x []float64)
	gradient(grad []float64, rows []int, x [][]float64, y []int, l2 float64, scores []float64) float64
}

// model is multinomial logistic regression: p(class | x) = softmax(W x + b).
type model struct {
	classes, dim int
	// parameters holds one row per class: dim weights and then the bias.
	parameters []float64
}

func newModel(classes, dim int) *model {
	return &model{classes: classes, dim: dim, parameters: make([]float64, classes*(dim+1))}
}

func (m *model) row(class int) []float64 {
	return m.parameters[class*(m.dim+1) : (class+1)*(m.dim+1)]
}

// scores fills dst, one number per class, with W x + b.
func (m *model) scores(dst, x []float64) {
	for c := range dst {
		row := m.row(c)
		sum := row[m.dim]
		for j, v := range x {
			sum += row[j] * v
		}
		dst[c] = sum
	}
}

// logProbability turns scores into probabilities, in place, and returns the
// natural logarithm of that of one class.
func logProbability(scores []float64, class int) float64 {
	top := scores[largest(scores)]
	chosen, sum := scores[class]-top, 0.0
	for c, s := range scores {
		scores[c] = math.Exp(s - top)
		sum += scores[c]
	}
	for c := range scores {
		scores[c] /= sum
	}
	return chosen - math.Log(sum)
}

// gradient fills grad, shaped like the parameters, with the gradient of the mean
// cross-entropy over the rows plus l2/2 times the squared norm of the weights
// (not of the biases). It returns that sum. scores has room for one number per
// class.
func (m *model) gradient(grad []float64, rows []int, x [][]float64, y []int, l2 float64, scores []float64) float64 {
	clear(grad)
	loss := 0.0
	scale := 1 / float64(len(rows))
	for _, r := range rows {
		m.scores(scores, x[r])
		loss -= scale * logProbability(scores, y[r])
		scores[y[r]]--
		for c, s := range scores {
			s *= scale
			g := grad[c*(m.dim+1) : (c+1)*(m.dim+1)]
			for j, v := range x[r] {
				g[j] += s * v
			}
			g[m.dim] += s
		}
	}
	return loss + m.decay(grad, l2)
}

// decay returns l2/2 times the squared norm of the weights, and adds its gradient to grad.
func (m *model) decay(grad []float64, l2 float64) float64 {
	sum := 0.0
	for c := range m.classes {
		row, g := m.row(c)[:m.dim], grad[c*(m.dim+1):]
		for j, w := range row {
			sum += l2 / 2 * w * w
			g[j] += l2 * w
		}
	}
	return sum
}

func (m *model) flat() []float64 { return m.parameters }

// scoreOf returns the mean cross-entropy and the accuracy on the rows of x.
func scoreOf(m learner, classes int, x [][]float64, y []int) Score {
	scores := make([]float64, classes)
	var loss, right float64
	for i, row := range x {
		m.scores(scores, row)
		if largest(scores) == y[i] {
			right++
		}
		loss -= logProbability(scores, y[i])
	}
	n := float64(len(x))
	return Score{Loss: loss / n, Accuracy: right / n}
}
