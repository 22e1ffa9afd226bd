package consensus

// uniformRow returns row self of W(t) for this many agents, in round t of T:
// equal weights in round 1, the own candidate alone from round T+1 on. Al Kontar
// (2024), equation 6 in closed form.
func uniformRow(agents, self, t, T int) []float64 {
	row := make([]float64, agents)
	other := 0.0
	if t <= T {
		other = float64(T-t+1) / (float64(T) * float64(agents))
	}
	for j := range row {
		row[j] = other
	}
	row[self] = 1 - float64(agents-1)*other
	return row
}

// leaderRow returns row self of the matrix in which agent leader weighs most: W(t)
// of uniformRow with 1/(TK) of every weight moved to the leader's row and column,
// while the leader's own weight allows it; before that the leader's candidate
// weighs 1/(K-1) with the others and nothing with itself, so that it explores
// elsewhere. Symmetric and doubly stochastic. After Yue et al. (2023), whose code
// differs from their text in who leads; here, as in the text, it is the agent of
// the best response.
func leaderRow(agents, self, leader, t, T int) []float64 {
	row := uniformRow(agents, self, t, T)
	if agents == 1 || t > T {
		return row
	}
	k := float64(agents)
	shift := 1 / (float64(T) * k)
	own := uniformRow(agents, leader, t, T)[leader]
	if own > (k-1)*(k-1)*shift {
		for j := range row {
			if (j == leader) == (self == leader) {
				row[j] -= shift
			} else {
				row[j] += (k - 1) * shift
			}
		}
		if self == leader {
			row[self] = own - (k-1)*(k-1)*shift
		}
		return row
	}
	for j := range row {
		switch {
		case self == leader && j == leader:
			row[j] = 0
		case self == leader || j == leader:
			row[j] = 1 / (k - 1)
		default:
			row[j] = (k - 2) / ((k - 1) * (k - 1))
		}
	}
	return row
}

// metropolisRow returns the weights that an agent with this many neighbours gives
// to the candidates of agents with the listed numbers, in round t of T; the rest is its own.
// It needs no list of the participants: with weights 1/(1 + the larger of
// the two degrees) the matrix is symmetric and doubly stochastic on any graph
// whose edges go both ways (Xiao, Boyd and Lall, "Distributed Average Consensus
// with Time-Varying Metropolis Weights", 2006). They decay as those of uniformRow.
func metropolisRow(degree int, degrees []int, t, T int) (others []float64, own float64) {
	decay := 0.0
	if t <= T {
		decay = float64(T-t+1) / float64(T)
	}
	// A claim of fewer neighbours cannot raise the weight beyond an equal share of
	// those that are there, so that no row exceeds 1.
	degree = max(degree, len(degrees))
	own = 1
	others = make([]float64, len(degrees))
	for j, other := range degrees {
		others[j] = decay / float64(1+max(degree, other))
		own -= others[j]
	}
	return others, own
}

// similarityRow returns the weights that an agent gives to candidates that fit what it has
// seen so well, 0 to 1 each, beside its own, which fits by 1: equal ones where all fit, and
// no more than 1/2 for the only one that does.
func similarityRow(fits []float64) []float64 {
	sum := 1.0
	for _, fit := range fits {
		sum += fit
	}
	row := make([]float64, len(fits))
	for j, fit := range fits {
		row[j] = fit / sum
	}
	return row
}
