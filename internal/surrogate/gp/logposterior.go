package gp

// LogPosterior returns the logarithm of the density that Fit maximises, at h, given outputs y
// (length t >= 1) at the points x (t rows).
func LogPosterior(spec Spec, x [][]float64, y []float64, h Hyperparameters) (float64, error) {
	if err := checkObservations(spec, x, y); err != nil {
		return 0, err
	}
	if err := h.validate(spec); err != nil {
		return 0, err
	}
	gradient := make([]float64, spec.lengthscales()+1)
	return newEvidence(spec, x, y).logPosterior(gradient, h)
}
