package baseline

import "fmt"

// MessageNumbers returns the count of eight-byte numbers in one message of a method, with this
// number of shared features and this dimension of an encoded design. For rgpe and taf that is a
// weight posterior over the features, its mean and the inverse of its covariance, counted whole as
// by Dai, Low and Jaillet, and sent once by each peer. (Their taf sends its best value too; the
// form here does not need it.) For dp-fts-de it is one draw of weights, for pooled and multitask
// one observation, for global one design. A method that is silent sends 0. Panics on an unknown
// name.
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
