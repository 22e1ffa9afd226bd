package testfunc

// Named is a function of this package, or one for each number of floats.
type Named struct {
	Name  string // lower case letters and digits
	About string // a phrase without a full stop

	// Usual is a number of floats that is often chosen, and Least the smallest that
	// there may be. Both are 0 where there is no choice.
	Usual, Least int

	// New returns the function of d floats, Least to 100. Where there is no choice d
	// is ignored.
	New func(d int) Function
}

// All returns every function of this package, with ten wells for [Shekel4].
func All() []Named {
	fixed := func(f func() Function) func(int) Function { return func(int) Function { return f() } }
	return []Named{
		{"branin", "Branin's function of two floats", 0, 0, fixed(Branin)},
		{"hartmann3", "Hartmann's function of three floats", 0, 0, fixed(Hartmann3)},
		{"hartmann6", "Hartmann's function of six floats", 0, 0, fixed(Hartmann6)},
		{"shekel4", "Shekel's function of four floats with ten wells", 0, 0, func(int) Function { return Shekel4(10) }},
		{"mixed", "a made function of two floats, an int and a categorical", 0, 0, fixed(Mixed)},
		{"ackley", "Ackley's rippled plain with a hole", 5, 1, Ackley},
		{"levy", "Levy's function of many minima", 5, 1, Levy},
		{"griewank", "Griewank's wide bowl with many dents", 5, 1, Griewank},
		{"michalewicz", "Michalewicz's steep narrow valleys", 5, 1, Michalewicz},
		{"rosenbrock", "Rosenbrock's curved valley", 5, 2, Rosenbrock},
		{"sphere", "the sum of squares", 5, 1, Sphere},
		{"ellipsoid", "a sum of squares with growing weights", 5, 1, Ellipsoid},
		{"rastrigin", "Rastrigin's bowl with regular deep dents", 5, 1, Rastrigin},
		{"styblinskitang", "the function of Styblinski and Tang with two wells along each float", 5, 1, StyblinskiTang},
		{"weierstrass", "Weierstrass's function, rugged everywhere", 5, 1, Weierstrass},
		{"zakharov", "Zakharov's plate with a very steep side", 5, 1, Zakharov},
		{"powell", "Powell's valley, flat at its bottom", 4, 4, Powell},
	}
}
