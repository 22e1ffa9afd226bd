// Package evaluator has a user's command evaluate trials and reads the value it
// prints.
//
// The central types are [Command], which is started for every trial, [Workers],
// which stay and get one trial after the other, and [Result], what was said about
// one of them. An evaluation that gives no usable number is a [*Failure], with a
// reason in plain words; it is never turned into a number. [Guard] ends a command
// when its node is killed.
//
// A Command is given the design three times, and may use whichever it likes:
//
//   - {name} in an argument is replaced by the value of that parameter ({{ and
//     }} stand for single braces),
//   - FBO_PARAM_<NAME>, the name in upper case, holds the value of each
//     parameter,
//   - FBO_PARAMS holds all of them as one JSON object.
//
// FBO_TRIAL is the number of the trial. The last line of standard output that is
// not empty must be a number, or {"value": v, "constraints": {"name": v}, "name": v}
// with the constraints left out if there are none; further numbers are metrics. Or
// it is {"error": "text"}. What is printed is kept by package triallog.
//
// In a simulation ([Member]) one command evaluates for all members of all federations.
//
// The package does not decide which design to evaluate, does not repeat failed
// runs, does not limit the time of a run (the caller's context does), and is no
// sandbox: the command runs with the rights of the node.
package evaluator
