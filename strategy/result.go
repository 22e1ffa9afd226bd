package strategy

// ModelInput is an interface that the value of a Result may implement, so that the model of the
// objective learns from it: see [SurrogateExtension].
type ModelInput interface {
	// InformsModel reports whether the value contains anything to learn from.
	InformsModel() bool
}
