package httpapi

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// problem returns an error with its status.
func problem(err error) error {
	if err == nil {
		return nil
	}
	var field *trialserver.FieldError
	var starting *trialserver.StartingError
	var refusal *admission.Refusal
	status := http.StatusInternalServerError
	switch {
	case errors.As(err, &field):
		return invalid("body."+field.Field, field.Err)
	case errors.As(err, &starting):
		return huma.ErrorWithHeaders(huma.NewError(http.StatusServiceUnavailable, plainText(err)), http.Header{"Retry-After": {"1"}})
	case errors.Is(err, agent.ErrBadOutcome):
		return invalid("body", err)
	case errors.Is(err, strategy.ErrBadAnnotation), errors.Is(err, strategy.ErrBadCost), errors.Is(err, agent.ErrNoSteps):
		return invalid("body", err)
	case errors.Is(err, curves.ErrBadStep):
		return invalid("body.steps", err)
	case errors.Is(err, agent.ErrKeyReused):
		return invalid("header.Idempotency-Key", err)
	case errors.Is(err, trialserver.ErrUnknownTask), errors.Is(err, agent.ErrUnknownTrial), errors.Is(err, agent.ErrNotQueued):
		status = http.StatusNotFound
	case errors.Is(err, agent.ErrFinished), errors.Is(err, agent.ErrNotHeld), errors.Is(err, agent.ErrKeeping), errors.Is(err, agent.ErrQueueFull), errors.Is(err, trialserver.ErrFixed), errors.Is(err, trialserver.ErrTooMany):
		status = http.StatusConflict
	case errors.Is(err, trialserver.ErrOtherString):
		status = http.StatusConflict
	case errors.As(err, &refusal):
		status = statusOf(refusal)
	case errors.Is(err, admission.ErrMalformed):
		status = http.StatusBadGateway
	case errors.Is(err, node.ErrNoTask):
		status = http.StatusGatewayTimeout
	case errors.Is(err, node.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		status = http.StatusServiceUnavailable
	}
	return huma.NewError(status, plainText(err))
}

// statusOf returns the status of a request that the node which admits by a string has refused.
func statusOf(r *admission.Refusal) int {
	switch r.Status {
	case admission.Expired, admission.UsedUp, admission.Revoked:
		return http.StatusGone
	case admission.Unknown:
		return http.StatusNotFound
	}
	return http.StatusBadGateway
}

// invalid returns an error with the wrong field. It lists the errors of a task file one by one.
func invalid(location string, err error) error {
	var details []error
	var parse *task.ParseError
	if errors.As(err, &parse) {
		for _, one := range parse.Unwrap() {
			details = append(details, &huma.ErrorDetail{Location: location, Message: one.Error()})
		}
	}
	if details == nil {
		details = []error{&huma.ErrorDetail{Location: location, Message: plainText(err)}}
	}
	return huma.NewError(http.StatusUnprocessableEntity, location+": "+firstLine(plainText(err)), details...)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// plainText omits the word task, which the location of the problem has.
func plainText(err error) string { return strings.TrimPrefix(err.Error(), "task: ") }

// unknownPaths turns the mux's own answers into problems.
func unknownPaths(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect a path with empty parts or dots, with a page.
		asked := r.URL.EscapedPath()
		if _, pattern := mux.Handler(r); pattern != "" && asked == path.Clean(asked) {
			mux.ServeHTTP(w, r)
			return
		}
		refusal := &bareAnswer{header: http.Header{}}
		mux.ServeHTTP(refusal, r)
		if allowed := refusal.header.Get("Allow"); refusal.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", allowed)
			httpaccess.Refuse(w, refusal.status, "method "+r.Method+": accepted here are "+allowed)
			return
		}
		httpaccess.Refuse(w, http.StatusNotFound, "there is nothing at this path; /v1/openapi.json says what there is")
	})
}

// bareAnswer keeps only the status and header of an answer.
type bareAnswer struct {
	header http.Header
	status int
}

func (b *bareAnswer) Header() http.Header         { return b.header }
func (b *bareAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (b *bareAnswer) WriteHeader(status int)      { b.status = status }
