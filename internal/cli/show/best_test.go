package show

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/past"
)

// A model that cannot learn costs a warning; an interrupt ends the command.
func TestBestWithoutARecommendation(t *testing.T) {
	p := past.History{Preferred: func(context.Context) (*agent.Recommendation, error) { return nil, errors.New("no model") }}
	var warnings strings.Builder
	if r, err := recommended(t.Context(), p, &warnings); r != nil || err != nil || !strings.HasSuffix(warnings.String(), "the best observed one: no model\n") {
		t.Errorf("recommended is %v, %v, with %q", r, err, warnings.String())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := recommended(ended, p, &warnings); err == nil {
		t.Error("an interrupt is no error")
	}
}
