package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
)

// A model that cannot learn costs a warning; an interrupt ends the command.
func TestBestWithoutARecommendation(t *testing.T) {
	p := taskHistory{preferred: func(context.Context) (*agent.Recommendation, error) { return nil, errors.New("no model") }}
	var warnings strings.Builder
	if r, err := p.recommended(t.Context(), &warnings); r != nil || err != nil || !strings.HasSuffix(warnings.String(), "the best observed one: no model\n") {
		t.Errorf("recommended is %v, %v, with %q", r, err, warnings.String())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.recommended(ended, &warnings); err == nil {
		t.Error("an interrupt is no error")
	}
}
