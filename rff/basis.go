package rff

import (
	"math"
	"math/rand/v2"
)

// The bases define the choice of the frequencies and the features of each.
// All except RandomPhase have a cosine and a sine per frequency.
const (
	Plain       = "plain"        // independent draws from the spectral density
	Orthogonal  = "orthogonal"   // in blocks of d, orthogonal to one another
	Quasi       = "quasi"        // a scrambled Halton sequence
	RandomPhase = "random-phase" // one cosine with a random phase per frequency, as published
)

// DefaultBasis is the basis of a Spec that names none. Up to six coordinates the error of
// phi(x)·phi(y) as an approximation of the kernel is 1.3 to 9 times smaller than with
// Plain. At twenty it is 1.0 to 1.3 times smaller, and with Orthogonal 1.1 to 1.4 times
// (BenchmarkBasis). The fit of projections onto the features hardly depends on the
// basis (BenchmarkSharedBasis).
const DefaultBasis = Quasi

var bases = []string{Plain, Orthogonal, Quasi, RandomPhase}

// derive returns the frequencies of spec, row-major, and the phases of the
// basis RandomPhase.
func derive(spec Spec, rng *rand.Rand) (rows, phases []float64) {
	count, dim := spec.Features/2, len(spec.Lengthscales)
	normal := &normalSource{rng: rng}
	switch spec.basis() {
	case Plain:
		rows = independentRows(spec.Kernel, count, dim, normal)
	case Orthogonal:
		rows = orthogonalRows(spec.Kernel, count, dim, normal)
	case Quasi:
		rows = quasiRows(spec.Kernel, count, dim, rng)
	case RandomPhase:
		rows = independentRows(spec.Kernel, spec.Features, dim, normal)
		phases = make([]float64, spec.Features)
		for i := range phases {
			phases[i] = 2 * math.Pi * unit(rng)
		}
	}
	for i := range rows {
		rows[i] /= spec.Lengthscales[i%dim]
	}
	return rows, phases
}

// orthogonalRows returns rows that are, in blocks of dim, orthogonal directions with
// independent lengths. Each row has the spectral density, and the rows are spread more
// evenly than independent ones (Yu et al. 2016, section 3).
func orthogonalRows(kernel string, count, dim int, normal *normalSource) []float64 {
	rows := make([]float64, 0, (count+dim-1)/dim*dim*dim)
	for len(rows) < count*dim {
		block := make([]float64, dim*dim)
		for i := range block {
			block[i] = normal.next()
		}
		lengths := orthogonalise(block, dim)
		for i, length := range lengths {
			if kernel == Matern52 {
				length /= studentScale(normal)
			}
			row := block[i*dim : (i+1)*dim]
			for k := range row {
				row[k] *= length
			}
		}
		rows = append(rows, block...)
	}
	return rows[:count*dim]
}

// orthogonalise makes the dim rows of block orthonormal, one after the other (modified
// Gram-Schmidt), and returns their former lengths. The lengths of normal vectors are
// independent of their directions.
func orthogonalise(block []float64, dim int) (lengths []float64) {
	lengths = make([]float64, dim)
	for i := range dim {
		row := block[i*dim : (i+1)*dim]
		lengths[i] = math.Sqrt(product(row, row))
		for j := range i {
			other := block[j*dim : (j+1)*dim]
			along := product(row, other)
			for k := range row {
				row[k] -= float64(along * other[k])
			}
		}
		rest := math.Sqrt(product(row, row))
		for k := range row {
			row[k] /= rest
		}
	}
	return lengths
}

// product returns the inner product, with each operation rounded and in fixed order.
func product(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}

// quasiRows returns the spectral density's quantiles at the points of a
// scrambled Halton sequence (Avron et al. 2016, section 3). The Matérn-5/2
// kernel takes one coordinate more, of the smallest base, for the length.
func quasiRows(kernel string, count, dim int, rng *rand.Rand) []float64 {
	rows := make([]float64, count*dim)
	bases := primes(dim + 1)
	column := make([]float64, count)
	if kernel != Matern52 {
		bases = bases[:dim]
	} else {
		scrambled(column, bases[0], rng)
		bases = bases[1:]
		for i, u := range column {
			scale := studentQuantile(u)
			for k := range dim {
				rows[i*dim+k] = scale
			}
		}
	}
	for k, base := range bases {
		scrambled(column, base, rng)
		for i, u := range column {
			value := normalQuantile(u)
			if kernel == Matern52 {
				value /= rows[i*dim+k]
			}
			rows[i*dim+k] = value
		}
	}
	return rows
}

// scrambled fills column with the first elements of the radical inverse in a prime base. It
// permutes each digit at random, and draws the part below the digits at random. In every
// block of base^j elements each stratum of width base^-j contains one element.
func scrambled(column []float64, base int, rng *rand.Rand) {
	var permutations [][]int
	for reach := 1; reach < len(column); reach *= base {
		permutations = append(permutations, permutation(base, rng))
	}
	digits := make([]int, len(permutations))
	for i := range column {
		for j, rest := 0, i; j < len(digits); j, rest = j+1, rest/base {
			digits[j] = permutations[j][rest%base]
		}
		u := unit(rng)
		for j := len(digits) - 1; j >= 0; j-- {
			u = (u + float64(digits[j])) / float64(base)
		}
		column[i] = min(u, 1-0x1p-53)
	}
}

// permutation returns a random permutation. It does not use the standard library's shuffle,
// whose algorithm may change.
func permutation(n int, rng *rand.Rand) []int {
	p := make([]int, n)
	for i := range p {
		j := int(rng.Uint64() >> 11 % uint64(i+1))
		p[i], p[j] = p[j], i
	}
	return p
}

// unit returns a uniform draw from the odd multiples of 2⁻⁵³ in (0, 1); every step is exact.
func unit(rng *rand.Rand) float64 {
	return float64(rng.Uint64()>>12<<1|1) / (1 << 53)
}

func primes(count int) []int {
	found := make([]int, 0, count)
	for n := 2; len(found) < count; n++ {
		prime := true
		for _, p := range found {
			if p*p > n {
				break
			}
			if n%p == 0 {
				prime = false
				break
			}
		}
		if prime {
			found = append(found, n)
		}
	}
	return found
}
