// Package evaluator runs a user's command that evaluates trials, and reads the value it prints.
//
// The central types are [Command], which starts a process for every trial, [Workers], whose
// processes stay and get one trial after the other, and [Result], the outcome of one trial. An
// evaluation without a usable number is a [*Failure] with a reason in plain words; it never becomes
// a number. [Supervise] ends a command when its node is killed.
//
// A Command gets the design in three forms, and may use any of them:
//
//   - {name} in an argument is replaced by the value of that parameter ({{ and }} stand for single
//     braces),
//   - FBO_PARAM_<NAME>, the name in upper case, holds the value of each parameter,
//   - FBO_PARAMS holds all of them as one JSON object.
//
// FBO_TRIAL is the number of the trial. The last line of standard output that is not empty must be
// a number or an object: {"value": v, "constraints": {"name": v}, "name": v}. The constraints may
// be absent if there are none; further numbers are metrics. An object {"error": "text"} reports a
// failure. Package triallog keeps the output.
//
// In a simulation ([Member]) one command evaluates for all members of all federations.
//
// The package does not decide which design to evaluate, does not repeat failed runs and does not
// limit the time of a run (the caller's context does). It is no sandbox: the command has the rights
// of the node.
package evaluator
