package baseline

import "fmt"

// MessageNumbers returns the count of eight-byte numbers in one message of a method, for this
// number of shared features and this dimension of an encoded design.
//
//   - rgpe, taf: a posterior over the weights of the features, its mean and its whole inverse
//     covariance, as Dai, Low and Jaillet count it. Each peer sends it once. (Their taf also sends
//     its best value, which the form here does not need.)
//   - dp-fts-de: one draw of weights.
//   - pooled, multitask: one observation.
//   - global: one design.
//   - random: 0, because it sends nothing.
//
// It panics on an unknown name.
func MessageNumbers(name string, features, dim int) int {
	switch name {
	case "random":
		return 0
	case "dp-fts-de":
		return features
	case "rgpe", "taf":
		return features + features*features
	case "global":
		return dim
	case "pooled", "multitask":
		return dim + 1
	}
	panic(fmt.Sprintf("baseline: no method %q", name))
}
