package surrogate

// Scaled is an optional interface of a Posterior that reports its units. Posteriors of the
// objective implement it, for all kinds of Model.
type Scaled interface {
	Posterior
	// Units returns the units that Outputs returns for the same observations. With fixed
	// hyperparameters the level is their mean, negated if the goal is to minimise, and the scale is
	// their standard deviation.
	Units() Units
}

var (
	_ Scaled = (*exactPosterior)(nil)
	_ Scaled = (*linearPosterior)(nil)
)

func (p *exactPosterior) Units() Units { return p.units }

func (p *linearPosterior) Units() Units { return p.units }
