// Package modelview shows a model to people: slices and contours of the posterior through
// one design, and which parameters matter to it. Nothing is chosen by it.
package modelview
