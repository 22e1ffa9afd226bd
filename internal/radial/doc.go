// Package radial evaluates weighted sums of a stationary kernel,
//
//	f(x) = Σ_j u_j k(|(x − x_j) / l|)
//
// and their gradients: the mean of a Gaussian process, and what observations add
// to a draw of it. [Centers] are the points x_j with their lengthscales l, a
// [Sum] is one function over them.
//
// Distances and the kernel are computed in chunks of centers. On amd64 with AVX2
// and FMA an assembly kernel does four centers at a time; other processors, and
// builds with the tag noasm, take the same steps in Go with math.Exp. A kernel's
// value has a relative error below 10⁻¹⁴ for distances up to 30 lengthscales and
// an absolute one below 10⁻¹⁶ everywhere.
//
// Formulas: Rasmussen and Williams, "Gaussian Processes for Machine Learning"
// (2006), equations 4.9 and 4.17.
package radial
