package task

import "pgregory.net/rapid"

// For tests from outside the package, which can name strategies.
const MaxErrors = maxErrors

var (
	CanonicalParameters = canonicalParameters
	FeaturesFor         = featuresFor
	LengthscaleFor      = lengthscaleFor
)

func DrawSpace(t *rapid.T) *Space { return drawSpace(t) }
