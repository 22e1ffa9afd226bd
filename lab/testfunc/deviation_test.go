package testfunc

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// In few coordinates the deviations are what a rule of integration finds.
func TestDeviations(t *testing.T) {
	for _, test := range []struct {
		f         Function
		points    int // for each float
		tolerance float64
	}{
		{Branin(), 64, 1e-5},
		{Hartmann3(), 40, 1e-5},
		{Shekel4(10), 40, 1.5e-3}, // 2e-6 with 80 points
		{Mixed(), 40, 1e-5},
		{Levy(1), 200, 1e-5},
		{Levy(2), 200, 1e-5},
		{Griewank(1), 1500, 1e-5},
		{Griewank(2), 1500, 1e-5},
		{Michalewicz(1), 100, 1e-5},
		{Michalewicz(3), 100, 1e-5},
		{Rosenbrock(2), 6, 1e-5},
		{Rosenbrock(4), 6, 1e-5},
		{Sphere(3), 6, 1e-5},
		{Ellipsoid(3), 6, 1e-5},
		{Rastrigin(2), 200, 1e-5},
		{StyblinskiTang(2), 20, 1e-5},
		{Zakharov(3), 10, 1e-5},
		{Powell(4), 6, 1e-5},
	} {
		if found := deviationByProduct(test.f, test.points); !(math.Abs(test.f.Deviation/found-1) < test.tolerance) {
			t.Errorf("%s: deviation %.9g, here %.9g", test.f.Name, test.f.Deviation, found)
		}
	}
}

// In many coordinates the deviations are within four standard errors of those of 20,000
// random points, which a right number misses once in 15,000 seeds (fixed here). The error
// is below 2 % but for Shekel's wells: a number that is wrong by 10 % is found.
func TestDeviationsInManyCoordinates(t *testing.T) { checkDeviations(t, 8) }

// checkDeviations compares every fourth number of coordinates up to a largest one.
func checkDeviations(t *testing.T, largest int) {
	for _, n := range All() {
		for d := n.Least; d <= largest; d += 4 {
			f := n.New(d)
			found, se := deviationBySample(f, 20_000)
			if !(math.Abs(f.Deviation-found) < 4*se) {
				t.Errorf("%s: deviation %.5g, here %.5g ± %.2g", f.Name, f.Deviation, found, se)
			}
			if se > 0.02*found && n.Name != "shekel4" {
				t.Errorf("%s: the error is %.2g of the deviation", f.Name, se/found)
			}
			if n.Usual == 0 {
				break
			}
		}
	}
}

// deviationByProduct uses the Gauss-Legendre rule for each float.
func deviationByProduct(f Function, points int) float64 {
	parameters := f.Space.Parameters()
	nodes, weights := make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	var mean, square float64
	x := make([]float64, len(parameters))
	var sum func(i int, weight float64)
	sum = func(i int, weight float64) {
		if i == len(x) {
			value := f.Value(x)
			mean += weight * value
			square += weight * value * value
			return
		}
		p := parameters[i]
		switch p.Kind {
		case task.Float:
			for k, u := range nodes {
				x[i] = p.Low + u*(p.High-p.Low)
				sum(i+1, weight*weights[k])
			}
		case task.Int:
			for x[i] = p.Low; x[i] <= p.High; x[i]++ {
				sum(i+1, weight/(p.High-p.Low+1))
			}
		default:
			for choice := range p.Choices {
				x[i] = float64(choice)
				sum(i+1, weight/float64(len(p.Choices)))
			}
		}
	}
	sum(0, 1)
	return math.Sqrt(square - mean*mean)
}

// deviationBySample returns the deviation over n random points and its standard error.
func deviationBySample(f Function, n int) (deviation, se float64) {
	rng := random.SeedOf(1).Stream(f.Name, 0)
	values, mean := make([]float64, n), 0.0
	for i := range values {
		x := anywhere(f, 0, rng)
		for k, p := range f.Space.Parameters() {
			if p.Kind == task.Int { // of which anywhere has the ends half as often
				x[k] = p.Low + float64(rng.IntN(int(p.High-p.Low)+1))
			}
		}
		values[i] = f.Value(x)
		mean += values[i] / float64(n)
	}
	second, fourth := 0.0, 0.0
	for _, v := range values {
		square := (v - mean) * (v - mean)
		second += square / float64(n)
		fourth += square * square / float64(n)
	}
	deviation = math.Sqrt(second)
	return deviation, math.Sqrt((fourth-second*second)/float64(n)) / (2 * deviation)
}
