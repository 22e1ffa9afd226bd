package strategy

// ModelInput is an optional interface of the value of a [Result]. The model of the objective learns
// from such a value (see [SurrogateExtension]).
type ModelInput interface {
	// InformsModel reports whether the value contains information for the model.
	InformsModel() bool
}
