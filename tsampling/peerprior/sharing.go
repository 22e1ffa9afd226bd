package peerprior

import (
	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// NewSharing returns the exchange of one agent on a task with exact shares.
func NewSharing(t *task.Task) *latest.Latest {
	return posteriormean.New(t, func(mean protocol.Mean) any { return &share{Mean: mean} })
}
