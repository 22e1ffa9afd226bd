// Package task says what is optimised: the task file, its identity, and the
// search space.
//
// A [Task] is parsed strictly from YAML (or JSON) by [Parse]: whatever is unknown,
// missing, doubtful or out of range is an error with line and column. [New] makes it
// from Go values. All defaults are filled in. [Task.Canonical] is the task as canonical JSON, in the manner of
// RFC 8785 (sorted keys, shortest numbers), and [Task.ID] its CIDv1. Whatever
// changes the meaning of what nodes share is part of the task and so changes its
// ID; the order of keys, comments, the spelling of numbers and whether a default
// is written out do not. The order of parameters and of choices does, because it
// is the order of coordinates.
//
// A [Space] maps a [Design], the values of all parameters, to a point of the unit
// cube and back, exactly. Categorical parameters and bools become one-hot blocks,
// never ordinal codes; numbers with an order, listed ones too, are one coordinate.
//
// A task has one objective and may have constraints on further outputs
// ([Constraint]), of which an evaluation reports a [Reading] each. Which of two
// evaluations is better, and whether one is feasible, is asked of the task:
// [Task.Better], [Task.Feasible], [Task.Violation].
//
// The package knows the words of the file, not what they do: kernels, surrogates
// and strategies live elsewhere. It reads no files and keeps no settings of a
// single node (budget, directories, peers, command).
package task
