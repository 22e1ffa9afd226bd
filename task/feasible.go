package task

import (
	"fmt"
	"math/rand/v2"
)

// Constants of the search for feasible designs, which a space with constraints among parameters
// makes once.
const (
	maxAnchors     = 256
	feasibleTrials = 1 << 17 // random designs, and the largest finite space that is searched whole
	bisections     = 16      // of a segment between a feasible and an infeasible point
)

// findAnchors sets the anchors: feasible designs, spread over the space. It returns an error message
// if it finds none.
func (s *Space) findAnchors() string {
	if len(s.rules) == 0 {
		return ""
	}
	u := make([]float64, s.dim)
	check := s.newRuleCheck()
	add := func() {
		if check.satisfied(u) && s.Settle(u) {
			s.anchors = append(s.anchors, append([]float64(nil), u...))
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	count, finite := s.Finite()
	if finite && count <= feasibleTrials { // the designs in random order
		for _, number := range rng.Perm(count) {
			s.Combination(u, number)
			if add(); len(s.anchors) == maxAnchors {
				return ""
			}
		}
		if len(s.anchors) == 0 {
			return fmt.Sprintf("none of the %d designs satisfies all parameter constraints", count)
		}
		return ""
	}
	for range feasibleTrials {
		for i := range u {
			u[i] = rng.Float64()
		}
		if add(); len(s.anchors) == maxAnchors {
			break
		}
	}
	if len(s.anchors) == 0 {
		return fmt.Sprintf("none of %d random designs satisfies all parameter constraints; expected constraints that leave a larger part of the space", feasibleTrials)
	}
	return ""
}

// Settle changes u as Snap does, except that it does not repair a violation of constraints among
// parameters: it reports whether the result satisfies all of them.
func (s *Space) Settle(u []float64) (feasible bool) {
	s.checkDim(u)
	if l := s.present(); l != nil {
		l.Encode(u, l.nearest(clamped(u)))
		return true
	}
	s.round(u)
	s.Impute(u)
	if len(s.rules) == 0 {
		return true
	}
	check := s.checks.Get().(*ruleCheck)
	defer s.checks.Put(check)
	return check.satisfied(u)
}

// values returns the values at u, with the zero Value for inactive parameters.
func (s *Space) values(u []float64) []Value {
	values := make([]Value, len(s.parameters))
	for i := range values {
		values[i] = s.ValueAt(i, u)
	}
	s.dropInactive(values)
	return values
}

// repair replaces u, which violates a constraint among parameters, by a feasible point between u
// and the nearest anchor, close to the edge of the feasible part.
func (s *Space) repair(u []float64) {
	nearest, least := s.anchors[0], squaredDistance(s.anchors[0], u)
	for _, anchor := range s.anchors[1:] {
		if d := squaredDistance(anchor, u); d < least {
			nearest, least = anchor, d
		}
	}
	feasible, between := append([]float64(nil), nearest...), make([]float64, len(u))
	low, high := 0.0, 1.0 // parts of the way from the anchor to u
	for range bisections {
		middle := (low + high) / 2
		for i := range between {
			between[i] = nearest[i] + float64(middle*(u[i]-nearest[i]))
		}
		if s.Settle(between) {
			low = middle
			copy(feasible, between)
		} else {
			high = middle
		}
	}
	copy(u, feasible)
}

func squaredDistance(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64((x - b[i]) * (x - b[i]))
	}
	return sum
}
