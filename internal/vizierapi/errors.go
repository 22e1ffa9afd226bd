package vizierapi

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// maxMessage is the maximum number of characters of an error's message, which gRPC sends in a header.
const maxMessage = 1500

func invalid(format string, a ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, a...))
}

func refused(format string, a ...any) error {
	return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf(format, a...))
}

// unsupported is the error of what fbo has no counterpart for.
func unsupported(format string, a ...any) error {
	return connect.NewError(connect.CodeUnimplemented, fmt.Errorf(format, a...))
}

// statusOf returns an error with its status of gRPC.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	given := (*connect.Error)(nil)
	code := connect.CodeInternal
	var field *trialserver.FieldError
	var starting *trialserver.StartingError
	is := func(all ...error) bool {
		for _, one := range all {
			if errors.Is(err, one) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.As(err, &given):
		return given
	case errors.As(err, &field), is(agent.ErrBadOutcome, strategy.ErrBadAnnotation, strategy.ErrBadCost, agent.ErrNoSteps, curves.ErrBadStep):
		code = connect.CodeInvalidArgument
	case errors.As(err, &starting), is(node.ErrClosed, context.Canceled, context.DeadlineExceeded):
		code = connect.CodeUnavailable
	case is(trialserver.ErrUnknownTask, agent.ErrUnknownTrial):
		code = connect.CodeNotFound
	case is(agent.ErrFinished, agent.ErrNotHeld, agent.ErrKeeping, trialserver.ErrFixed):
		code = connect.CodeFailedPrecondition
	case is(agent.ErrQueueFull, trialserver.ErrTooMany):
		code = connect.CodeResourceExhausted
	}
	return connect.NewError(code, errors.New(sanitize.Text(err.Error(), maxMessage)))
}
