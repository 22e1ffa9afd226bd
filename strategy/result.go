package strategy

import "github.com/fbo-node/fbo/privacy/ledger"

// What the value of a Result may be too, so that a node can show it.
type (
	// Spender tells what has been spent of the task's promise of privacy.
	Spender interface{ Account() ledger.State }

	// SumCounter tells how rounds of private sums ended.
	SumCounter interface{ CountSums() Sums }
)

// Sums counts how rounds of private sums ended.
type Sums struct {
	Known  int    `json:"known"`            // of all runs
	Failed int    `json:"failed"`           // in this run, without a sum
	Reason string `json:"reason,omitempty"` // of the latest of these
}
