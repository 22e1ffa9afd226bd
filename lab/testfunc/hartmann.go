package testfunc

import "math"

// hartmannHeights are the heights of the four Gaussian wells.
var hartmannHeights = [4]float64{1, 1.2, 3, 3.2}

// Hartmann3 returns the function of three floats in [0, 1] with four local minima. Its minimum is
// -3.86278.
//
// Source: Hartman (1973), "Some experiments in global optimization", Naval
// Postgraduate School; the constants of Dixon and Szegő (1978).
//
// The fourth centre starts with 0.0381. Other collections have 0.03815, with which the minimum
// differs in the sixth decimal.
//
// All four centres lie inside the space. Moving a coordinate from outside to the nearer bound
// brings the point nearer to all of them and lowers the value. Therefore no point outside the space
// has a value below the minimum.
func Hartmann3() Function {
	sharpness := [4][]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}
	centres := [4][]float64{
		{0.3689, 0.1170, 0.2673},
		{0.4699, 0.4387, 0.7470},
		{0.1091, 0.8732, 0.5547},
		{0.0381, 0.5743, 0.8828},
	}
	return Function{
		Name:       "hartmann3",
		Space:      box(3, 0, 1),
		Value:      hartmann(sharpness, centres),
		Optimum:    -3.8627797873326624,
		Minimizers: [][]float64{{0.11458887665506895, 0.5556488946169301, 0.8525469846866774}},
		Deviation:  hartmann3Deviation,
		Reach:      math.Inf(1),
	}
}

// Hartmann6 returns the function of six floats in [0, 1] with six local minima. Its minimum is
// -3.32237. For the source and for Reach see [Hartmann3].
func Hartmann6() Function {
	sharpness := [4][]float64{
		{10, 3, 17, 3.5, 1.7, 8},
		{0.05, 10, 17, 0.1, 8, 14},
		{3, 3.5, 1.7, 10, 17, 8},
		{17, 8, 0.05, 10, 0.1, 14},
	}
	centres := [4][]float64{
		{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
		{0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
		{0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
		{0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381},
	}
	return Function{
		Name:    "hartmann6",
		Space:   box(6, 0, 1),
		Value:   hartmann(sharpness, centres),
		Optimum: -3.322368011415515,
		Minimizers: [][]float64{{
			0.20168951100670543, 0.15001069182345797, 0.476873974221897,
			0.2753324304940561, 0.31165161660011326, 0.6573005340656204,
		}},
		Deviation: hartmann6Deviation,
		Reach:     math.Inf(1),
	}
}

func hartmann(sharpness, centres [4][]float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		value := 0.0
		for i, height := range hartmannHeights {
			exponent := 0.0
			for k, centre := range centres[i] {
				exponent += sharpness[i][k] * (x[k] - centre) * (x[k] - centre)
			}
			value -= height * math.Exp(-exponent)
		}
		return value
	}
}
