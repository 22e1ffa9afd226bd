package surrogate

// Scaled is what a Posterior may be too, when it knows how its standardised units relate to
// the outputs that it was conditioned on. Those of the objective are, of all kinds of Model.
type Scaled interface {
	Posterior
	// Units returns the level and the scale of the standardised units: those of Outputs
	// of the same observations. With fixed hyperparameters they are its mean, negated where the
	// goal is to minimise, and its deviation.
	Units() Units
}

var (
	_ Scaled = (*exactPosterior)(nil)
	_ Scaled = (*linearPosterior)(nil)
)

func (p *exactPosterior) Units() Units { return p.units }

func (p *linearPosterior) Units() Units { return p.units }
