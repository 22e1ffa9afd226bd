// Package evaluator runs a user's command that evaluates trials, and reads the value that it prints.
//
// The central types are [Command], which starts a process for every trial, [Workers], whose
// processes evaluate one trial after the other, and [Result], the outcome of one trial. If an
// evaluation gives no usable number, the error is a [*Failure] with a readable reason; no number takes
// its place. [Supervise] kills a command when its node is killed.
//
// A Command gets the design in three forms, and may use any of them:
//
//   - {name} in an argument is replaced by the value of that parameter ({{ and }} stand for single
//     braces),
//   - FBO_PARAM_<NAME>, with the name in upper case, holds the value of each parameter,
//   - FBO_PARAMS holds all of them as one JSON object.
//
// An inactive parameter has no variable and no member in FBO_PARAMS. Its placeholder is replaced by
// nothing, and an argument that begins with - is left out with it.
//
// FBO_TRIAL is the number of the trial, FBO_ATTEMPT that of its evaluation, and FBO_STEP the last step
// that earlier ones have reported. The last line of standard output that is not empty must be
// a number or an object: {"value": v, "constraints": {"name": v}, "name": v}. The constraints may
// be absent if the task has none; further numbers are metrics, also in "metrics": {"name": v}. The
// trial keeps "attributes": {"name": "text"}, "tags": ["text"] and "files": [{"path": "text"}] for
// its user, and "cost": v is the trial's cost. An object {"error": "text"} reports a failure. Package triallog stores the output.
//
// An object with "step" and "value" on a line of standard output is a value by step. A [Report] gets
// them in batches, while the output goes on. If it returns a decision to stop, the command is ended,
// or the worker gets a line, and the error of the evaluation is a [*Stopped].
//
// In a simulation ([Member]) one command evaluates for all members of all federations.
//
// The package does not choose designs, does not repeat failed evaluations and does not limit their
// duration: the caller's context does. It is no sandbox: the command has the rights of the node.
package evaluator
