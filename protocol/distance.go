package protocol

import "math"

// Distance returns how much the shares of two authors differ, 0 if they are equal; ok is false if the
// other value is of another type. A keeper compares shares by it.
func (d Density) Distance(other any) (distance float64, ok bool) {
	o, ok := other.(Density)
	if !ok {
		return 0, false
	}
	for _, a := range d.Components {
		for _, b := range o.Components {
			distance += a.Weight * b.Weight * a.Center.distance(b.Center)
		}
	}
	return distance, true
}

// Distance is 1 less the cosine of the angle between the weights. It is as Density.Distance.
func (w Weights) Distance(other any) (distance float64, ok bool) {
	o, ok := other.(Weights)
	if !ok || len(o.Values) != len(w.Values) {
		return 0, false
	}
	var product, own, others float64
	for i, v := range w.Values {
		product += v * o.Values[i]
		own += v * v
		others += o.Values[i] * o.Values[i]
	}
	if own == 0 || others == 0 {
		return 1, true
	}
	return 1 - product/math.Sqrt(own)/math.Sqrt(others), true
}

// Distance is as Density.Distance.
func (n NearOptimal) Distance(other any) (distance float64, ok bool) {
	o, ok := other.(NearOptimal)
	if !ok {
		return 0, false
	}
	return n.Point.distance(o.Point), true
}

// distance returns the root of the sum of squares over the parameters; choices that differ count as 1.
func (p Point) distance(other Point) float64 {
	sum := 0.0
	for i, c := range p.Coordinates {
		sum += (c - other.Coordinates[i]) * (c - other.Coordinates[i])
	}
	for i, c := range p.Choices {
		if c != other.Choices[i] {
			sum++
		}
	}
	return math.Sqrt(sum)
}
