// Package modelview computes views of a model for people: slices and contours of the posterior
// through one design, and the importance of parameters. It does not choose designs.
package modelview
