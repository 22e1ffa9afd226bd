// Package search is what the strategies have in common: the random designs at
// the start, and how a function to maximise becomes the next design.
//
// A [Search] knows the task's space and reads the agent's trials from the view
// it is given; it keeps no state. A strategy decides what to maximise.
package search
