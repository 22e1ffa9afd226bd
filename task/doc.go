// Package task defines optimisation tasks: the task file, its identity, and the
// search space.
//
// [Parse] parses a [Task] strictly from YAML (or JSON): unknown, missing, ambiguous or
// out-of-range values are errors with line and column. [New] makes a task from Go values.
// Both set all defaults. [Task.Canonical] is the task as canonical JSON, similar to RFC 8785
// (sorted keys, shortest numbers), and [Task.ID] is its CIDv1. Everything that changes the
// meaning of shares is part of the task and so changes its ID. The order of keys, comments,
// the notation of numbers and explicit defaults do not change it. The order of parameters
// and of choices does, because it is the order of coordinates.
//
// A [Space] maps a [Design], the values of all parameters, to a point of the unit
// cube and back, exactly. Categorical parameters and bools become one-hot blocks,
// never ordinal codes; numbers with an order, listed ones too, are one coordinate.
//
// A task has one objective and may have constraints on further outputs
// ([Constraint]). An evaluation reports a [Reading] of each. [Task.Better] compares
// evaluations; [Task.Feasible] and [Task.Violation] check their constraints.
//
// The package defines the words of the file and not their implementation: kernels, surrogates
// and strategies are in other packages. It reads no files, except tables from a given folder,
// and has no settings of a single node (budget, directories, peers, command).
package task
