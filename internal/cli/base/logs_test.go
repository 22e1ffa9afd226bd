package base

import (
	"strings"
	"testing"
)

func TestSetLogLevelRefuses(t *testing.T) {
	for _, text := range []string{"loud", "fbo=", "fbo=loud", "info,", ",", "=", "INFO x"} {
		if err := SetLogLevel(text); err == nil || !strings.Contains(err.Error(), "expected debug, info, warn and error") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
