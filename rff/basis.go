package rff

import (
	"math"
	"math/rand/v2"
)

// The bases differ in how they choose the frequencies and in the features per frequency. All except
// RandomPhase have a cosine and a sine per frequency.
const (
	Plain       = "plain"        // frequencies are independent draws from the spectral density
	Orthogonal  = "orthogonal"   // frequencies are orthogonal to one another within blocks of d
	Quasi       = "quasi"        // frequencies follow a scrambled Halton sequence
	RandomPhase = "random-phase" // one cosine per frequency, with a random phase, as in Dai, Low and Jaillet (2020)
)

// DefaultBasis is the basis of a Spec that names none. For up to six coordinates, phi(x)·phi(y)
// approximates the kernel with an error 1.3 to 9 times smaller than with Plain. For twenty
// coordinates the error is 1.0 to 1.3 times smaller, and with Orthogonal 1.1 to 1.4 times
// (BenchmarkBasis). The fit of projections onto the features hardly depends on the basis
// (BenchmarkSharedBasis).
const DefaultBasis = Quasi

var bases = []string{Plain, Orthogonal, Quasi, RandomPhase}

// derive returns the frequencies of spec, row-major, and the phases, which are nil except in the
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

// orthogonalRows returns count rows of dim coordinates. Within each block of dim rows the
// directions are orthogonal, and the lengths are independent. Each single row is distributed by the
// spectral density, and together the rows are spread more evenly than independent ones (Yu et al.
// 2016, section 3).
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

// orthogonalise makes the dim rows of block orthonormal by modified Gram-Schmidt. It returns the
// lengths that the rows had before. For normal vectors these lengths are independent of the
// directions.
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

// product returns the inner product of a and b. It rounds after each operation and adds in fixed
// order, so the result has the same bits on every processor.
func product(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}

// quasiRows returns quantiles of the spectral density at the points of a scrambled Halton sequence
// (Avron et al. 2016, section 3). The Matérn-5/2 kernel needs one more coordinate of the sequence,
// which determines the length of a row; it is the coordinate with the smallest base, 2.
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
// permutes each digit at random, and draws the remainder below the last digit uniformly. Among any
// base^j elements that form an aligned block, each stratum of width base^-j contains exactly one.
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
