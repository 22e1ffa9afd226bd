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
//   - guide: a weight, a value, means and variances.
//   - fmtbo: lengthscales, output scale, mean, and the ranks at 30 points for each dimension.
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
	case "guide":
		return 2*dim + 2
	case "fmtbo":
		return dim + 2 + fmtboPoints*dim
	case "pooled", "multitask":
		return dim + 1
	}
	panic(fmt.Sprintf("baseline: no method %q", name))
}
