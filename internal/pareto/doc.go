// Package pareto contains the arithmetic of several objectives: fronts, hypervolumes, and the
// scalarisation that makes one objective of several. All objectives are MAXIMISED.
//
// A point has one coordinate per objective. [Front] returns the points that no other point
// dominates, and [Hypervolume] the volume that a set of points dominates above a reference point.
// [Boxes] decomposes the region that is not dominated; an expected improvement of the hypervolume
// is a sum over its boxes. [Reference] derives a reference point from observations. [Weights] and
// [Chebyshev] are the two steps of ParEGO.
//
// Sources: While, Bradstreet and Barone, "A Fast Way of Calculating Exact Hypervolumes" (IEEE
// Transactions on Evolutionary Computation, 2012), for more than three objectives; Lacour, Klamroth
// and Fonseca, "A Box Decomposition Algorithm to Compute the Hypervolume Indicator" (Computers and
// Operations Research, 2017), for the number of boxes; Ishibuchi, Akedo and Nojima, "A
// Many-Objective Test Problem for Visually Examining Diversity Maintenance Behavior" (GECCO 2011),
// and Daulton, Balandat and Bakshy (NeurIPS 2020) for the rule of the reference point; Knowles,
// "ParEGO" (IEEE Transactions on Evolutionary Computation, 2006).
//
// Coordinates must not be NaN, and all points must have the same number of coordinates. The
// functions panic otherwise. An infinite coordinate is allowed where a function does not exclude
// it. The package knows neither tasks nor models.
package pareto
