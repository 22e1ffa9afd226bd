package latent

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Statement is the information of one agent's observations about u. It states that Outputs = Rows·v
// plus independent noise of variance 1, where v = L⁻¹u and LLᵀ is the covariance of u under Latent.
// It is a normal factor of the likelihood. Its rank is at most the length of u.
type Statement struct {
	Observations int
	Latent       [][]float64 // squared lengthscales of the latent functions, as in Hyperparameters
	Rows         [][]float64 // each of length Spec.size; row i is zero before column i
	Outputs      []float64   // one per row
}

// Limits of statements, in standardised units. For honest agents the norm of a row is at most the
// gain divided by the standard deviation of the noise, for each observation.
const (
	MaxObservations = 1 << 20
	MaxEntry        = 1e4 // maximum absolute value of entries of rows and of outputs
	MinVariance     = 1e-6
	MaxVariance     = 1e4
)

// Check returns an error for statements with wrong sizes or values out of bounds.
func (s Spec) Check(said Statement) error {
	if said.Observations < 1 || said.Observations > MaxObservations {
		return fmt.Errorf("statement after %d observations: must be 1 to %d", said.Observations, MaxObservations)
	}
	if len(said.Latent) != s.Latents {
		return fmt.Errorf("statement of %d latent functions: must be of %d", len(said.Latent), s.Latents)
	}
	for _, row := range said.Latent {
		if len(row) != s.groups() {
			return fmt.Errorf("statement of %d lengthscales: must be of %d", len(row), s.groups())
		}
		for _, v := range row {
			if !(v >= MinVariance && v <= MaxVariance) {
				return fmt.Errorf("statement with squared lengthscale %g: must be %g to %g", v, MinVariance, MaxVariance)
			}
		}
	}
	if most := min(said.Observations, s.size()); len(said.Rows) > most || len(said.Rows) != len(said.Outputs) {
		return fmt.Errorf("statement of %d rows and %d outputs: the numbers must be equal, at most %d", len(said.Rows), len(said.Outputs), most)
	}
	for i, row := range said.Rows {
		if len(row) != s.size() {
			return fmt.Errorf("row %d of a statement has %d numbers: must be %d", i, len(row), s.size())
		}
		for k, v := range append(slices.Clone(row), said.Outputs[i]) {
			if !(math.Abs(v) <= MaxEntry) {
				return fmt.Errorf("row %d of a statement has %g: must be within %g", i, v, MaxEntry)
			}
			if k < i && v != 0 {
				return fmt.Errorf("row %d of a statement has %g before its column %d: must be 0", i, v, i)
			}
		}
	}
	return nil
}

// Gathered is the product of statements. It is immutable.
type Gathered struct {
	precision *mat.SymDense // precision matrix of u; nil without statements
	shift     *mat.VecDense // precision matrix times mean
	logs      []float64     // sum over statements of the logarithms of Latent, times the statement's observations
	count     float64       // total number of observations
}

// Gather returns the product of the statements. Except for rounding errors it does not depend on
// their order.
func (s Spec) Gather(said []Statement) (*Gathered, error) {
	g := &Gathered{logs: make([]float64, s.Latents*s.groups())}
	for _, one := range said {
		if err := s.Check(one); err != nil {
			return nil, err
		}
		if g.precision == nil {
			g.precision, g.shift = mat.NewSymDense(s.size(), nil), mat.NewVecDense(s.size(), nil)
		}
		n := float64(one.Observations)
		g.count += n
		for i, v := range slices.Concat(one.Latent...) {
			g.logs[i] += n * math.Log(v)
		}
		if len(one.Rows) == 0 {
			continue
		}
		lower, ok := s.ofValues(one.Latent)
		if !ok {
			return nil, errNotDefinite
		}
		rows := mat.NewDense(len(one.Rows), s.size(), slices.Concat(one.Rows...))
		a := timesInverse(rows, lower)
		var square mat.SymDense
		square.SymOuterK(1, a.T())
		g.precision.AddSym(g.precision, &square)
		var shift mat.VecDense
		shift.MulVec(a.T(), mat.NewVecDense(len(one.Outputs), slices.Clone(one.Outputs)))
		g.shift.AddVec(g.shift, &shift)
	}
	return g, nil
}

// Average returns the common squared lengthscales of the latent functions. They are the geometric
// mean of the agent's own and those in the statements, weighted by observations.
func (s Spec) Average(g *Gathered, own [][]float64, observations int) [][]float64 {
	n := float64(observations)
	var all [][]float64
	for q, row := range own {
		mean := make([]float64, len(row))
		for i, v := range row {
			mean[i] = math.Exp((g.logs[q*len(row)+i] + n*math.Log(v)) / (g.count + n))
		}
		all = append(all, mean)
	}
	return all
}

var errNotDefinite = errors.New("a covariance matrix is not positive definite")

// timesInverse returns a·L⁻¹.
func timesInverse(a *mat.Dense, lower *mat.TriDense) *mat.Dense {
	var solved mat.Dense
	if err := solved.Solve(lower.T(), a.T()); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			panic(err) // the factor has a positive diagonal
		}
	}
	return mat.DenseCopyOf(solved.T())
}

// timesTransposedInverse returns a·L⁻ᵀ.
func timesTransposedInverse(a *mat.Dense, lower *mat.TriDense) *mat.Dense {
	var solved mat.Dense
	if err := solved.Solve(lower, a.T()); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			panic(err)
		}
	}
	return mat.DenseCopyOf(solved.T())
}

// marginal is a normal distribution of v = L⁻¹u.
type marginal struct {
	lower    *mat.TriDense // L
	mean     *mat.VecDense
	variance *mat.SymDense
}

// marginalOf returns the distribution of v given the product g of statements. The prior is v ~ N(0,
// I).
func (s Spec) marginalOf(g *Gathered, latent [][]float64) (*marginal, error) {
	lower, ok := s.ofValues(latent)
	if !ok {
		return nil, errNotDefinite
	}
	n := s.size()
	b := &marginal{lower: lower, mean: mat.NewVecDense(n, nil), variance: mat.NewSymDense(n, nil)}
	if g.precision == nil {
		for i := range n {
			b.variance.SetSym(i, i, 1)
		}
		return b, nil
	}
	var left, whole mat.Dense
	left.Mul(lower.T(), g.precision)
	whole.Mul(&left, lower)
	precision := mat.NewSymDense(n, nil)
	for i := range n {
		copy(precision.RawSymmetric().Data[i*n+i:(i+1)*n], whole.RawRowView(i)[i:])
		precision.SetSym(i, i, precision.At(i, i)+1)
	}
	var root mat.Cholesky
	if !root.Factorize(precision) {
		return nil, errNotDefinite
	}
	var shift mat.VecDense
	shift.MulVec(lower.T(), g.shift)
	if err := root.InverseTo(b.variance); err != nil && !isCondition(err) {
		return nil, errNotDefinite
	}
	if err := root.SolveVecTo(b.mean, &shift); err != nil && !isCondition(err) {
		return nil, errNotDefinite
	}
	return b, nil
}

func isCondition(err error) bool {
	var ill mat.Condition
	return errors.As(err, &ill)
}

// State returns the statement of an agent's observations about u. There must be at least one.
func (s Spec) State(h Hyperparameters, x [][]float64, y []float64) (Statement, error) {
	said := Statement{Observations: len(x), Latent: h.Latent}
	if err := errors.Join(s.checkObservations(x, y), h.validate(s)); err != nil {
		return said, err
	}
	lower, ok := s.ofValues(h.Latent)
	if !ok {
		return said, errNotDefinite
	}
	n := len(x)
	w := timesTransposedInverse(s.withValues(h, x), lower)
	rest := s.rest(h, x, w)
	var root mat.Cholesky
	if !root.Factorize(rest) {
		return said, errNotDefinite
	}
	var half mat.TriDense
	root.LTo(&half)
	joint := mat.NewDense(n, s.size()+1, nil)
	joint.Slice(0, n, 0, s.size()).(*mat.Dense).Copy(w)
	for i, v := range y {
		joint.Set(i, s.size(), v)
	}
	var scaled mat.Dense
	if err := scaled.Solve(&half, joint); err != nil && !isCondition(err) {
		return said, errNotDefinite
	}
	// An orthogonal transform of the rows does not change the information. It reduces the number of
	// rows to at most the length of u.
	var qr mat.QR
	if n < s.size()+1 {
		wide := mat.NewDense(s.size()+1, s.size()+1, nil)
		wide.Slice(0, n, 0, s.size()+1).(*mat.Dense).Copy(&scaled)
		qr.Factorize(wide)
	} else {
		qr.Factorize(&scaled)
	}
	var upper mat.Dense
	qr.RTo(&upper)
	for i := range min(n, s.size()) {
		row := upper.RawRowView(i)
		for k := range i {
			row[k] = 0
		}
		said.Rows = append(said.Rows, slices.Clone(row[:s.size()]))
		said.Outputs = append(said.Outputs, row[s.size()])
	}
	return said, s.Check(said)
}

// rest returns the covariance of the observations at x given u, noise included. w are their
// covariances with v.
func (s Spec) rest(h Hyperparameters, x [][]float64, w *mat.Dense) *mat.SymDense {
	n := len(x)
	rest := mat.NewSymDense(n, nil)
	if s.Own {
		var explained mat.SymDense
		explained.SymOuterK(1, w)
		for i := range n {
			for j := i; j < n; j++ {
				rest.SetSym(i, j, s.ofLatents(h, x[i], x[j])+s.ofOwn(h, x[i], x[j])-explained.At(i, j))
			}
		}
	}
	for i := range n {
		rest.SetSym(i, i, rest.At(i, i)+h.Noise)
	}
	return rest
}
