package consensus

// uniformRow returns row self of the weight matrix W(t) of K agents, in round t of T. All weights
// are equal in round 1, and from round T+1 on the own candidate has weight 1. Al Kontar (2024),
// equation 6 in closed form.
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

// leaderRow returns row self of the weight matrix in which the leader's candidate has the largest
// weight. The matrix starts from W(t) of uniformRow. It moves 1/(TK) of every weight to the row and
// the column of the leader, as long as the leader's weight for its own candidate is large enough.
// In early rounds it may be too small. The leader's candidate then has weight 1/(K-1) with the
// other agents and 0 with the leader itself, so that the leader explores elsewhere. The matrix is
// symmetric and doubly stochastic.
//
// After Yue et al. (2023). Their code and text differ in the choice of the leader. Here, as in the
// text, it is the agent with the best response.
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

// metropolisRow returns the weights that an agent gives to the candidates of its neighbours and to
// its own, in round t of T. degree is its number of neighbours, and degrees are those of the
// neighbours. No list of participants is needed: with weights 1/(1 + the larger of the two degrees)
// the matrix is symmetric and doubly stochastic on any undirected graph (Xiao, Boyd and Lall,
// "Distributed Average Consensus with Time-Varying Metropolis Weights", 2006). The weights decay
// with t like those of uniformRow.
func metropolisRow(degree int, degrees []int, t, T int) (others []float64, own float64) {
	decay := 0.0
	if t <= T {
		decay = float64(T-t+1) / float64(T)
	}
	// A peer that claims too few neighbours cannot raise its weight above 1/(1 + the number of
	// candidates). So the weights of a row never exceed 1 in sum.
	degree = max(degree, len(degrees))
	own = 1
	others = make([]float64, len(degrees))
	for j, other := range degrees {
		others[j] = decay / float64(1+max(degree, other))
		own -= others[j]
	}
	return others, own
}

// similarityRow returns the weights that an agent gives to candidates with these similarities, 0 to
// 1 each. Its own candidate has similarity 1. The weights are equal if all candidates fit. If only
// one candidate fits, its weight is at most 1/2.
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
