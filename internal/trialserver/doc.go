// Package trialserver is where clients outside of the node's process come for trials: the tasks
// that a node serves, each with its session, and what clients ask of it.
//
// A [Desk] knows which tasks to join at the next start; it keeps that in files beside the
// journal, one a task. What clients hold, how long their leases are and which requests
// were answered is in the journal, with the trials (package agent).
//
// It knows nothing of HTTP; internal/httpapi does. A run that has a session already puts
// it on a desk by [Desk.Adopt], so that both answer the same questions in the same way.
package trialserver
