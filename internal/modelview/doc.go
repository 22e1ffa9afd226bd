// Package modelview computes data for displaying a model: slices and contours of the posterior
// through a design, and the importance of parameters. It does not choose designs.
package modelview
