package surrogate

// Scaled is an optional interface of a Posterior that relates its standardised units to the outputs
// that it was conditioned on. Posteriors of the objective implement it, for all kinds of Model.
type Scaled interface {
	Posterior
	// Units returns the level and the scale of the standardised units: those of Outputs of the same
	// observations. With fixed hyperparameters they are its mean, negated if the goal is to
	// minimise, and its deviation.
	Units() Units
}

var (
	_ Scaled = (*exactPosterior)(nil)
	_ Scaled = (*linearPosterior)(nil)
)

func (p *exactPosterior) Units() Units { return p.units }

func (p *linearPosterior) Units() Units { return p.units }
