package attack

import "math"

// distance returns the largest difference in any coordinate.
func distance(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// assign returns the guess that is assigned to each input, so that the sum of distances is smallest
// (the Hungarian method with potentials, as in Burkard, Dell'Amico and Martello, Assignment
// Problems, 2009, section 4.2). There must be at least as many guesses as inputs.
func assign(inputs, guesses [][]float64) []int {
	n, m := len(inputs), len(guesses)
	u, v := make([]float64, n+1), make([]float64, m+1)
	match := make([]int, m+1) // input of each guess, counted from 1; 0 means none
	for i := 1; i <= n; i++ {
		match[0] = i
		way, least, used := make([]int, m+1), make([]float64, m+1), make([]bool, m+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		j := 0
		for match[j] != 0 {
			used[j] = true
			row, next, delta := match[j], 0, math.Inf(1)
			for k := 1; k <= m; k++ {
				if used[k] {
					continue
				}
				if cost := distance(inputs[row-1], guesses[k-1]) - u[row] - v[k]; cost < least[k] {
					least[k], way[k] = cost, j
				}
				if least[k] < delta {
					delta, next = least[k], k
				}
			}
			for k := range used {
				if used[k] {
					u[match[k]] += delta
					v[k] -= delta
				} else {
					least[k] -= delta
				}
			}
			j = next
		}
		for j != 0 {
			match[j] = match[way[j]]
			j = way[j]
		}
	}
	own := make([]int, n)
	for j := 1; j <= m; j++ {
		if match[j] > 0 {
			own[match[j]-1] = j - 1
		}
	}
	return own
}
