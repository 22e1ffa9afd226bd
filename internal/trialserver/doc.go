// Package trialserver serves trials to clients outside the node's process: it holds the tasks that
// a node serves, each with its session, and handles the clients' requests.
//
// A [Server] stores the list of tasks to join at the next start in files beside the journal, one a
// task. The trials that clients hold, their leases and the answered requests are in the journal,
// with the trials (package agent).
//
// It does not depend on HTTP; internal/httpapi does. A run that has a session already makes a
// Server of it by [Adopted], so that both answer the same requests in the same way.
package trialserver
