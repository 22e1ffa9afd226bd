// Package search is what the strategies have in common: the random designs at
// the start, and how a function to maximise becomes the next design.
//
// A [Search] knows the task's space and reads the agent's trials from the view
// it is given; it keeps no state. A strategy decides what to maximise.
//
// # When a maximiser has been tried
//
// An optimum on a bound, or of ints and categories, is met exactly, and so is met
// again. Then the same function is maximised a second time, outside of neighbourhoods:
// of everything that was tried, so that a coordinate differs by 1/64 of its range or
// a category does; and of the maximiser itself, by 1/64 to 1/2, drawn evenly on a
// logarithmic scale. (The paper on federated Thompson sampling draws a random design
// instead, which in a corner means nearly always.) The maximiser is repeated while
// noise hides whether it is better than the next best design, and the model knows it
// less well than two observations would tell. A design that runs or has failed is not
// repeated, nor is one within 1/64 of it suggested; farther away the package knows
// nothing about failures.
//
// In a finite space of which everything but a few designs has been tried the maximiser
// may find none of these: then chance looks for one, and where it finds none either,
// the best of those tried is evaluated again.
package search
