package sim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
)

// alarm is an exchange that warns at its start, or panics.
type alarm struct{ panics bool }

func (alarm) Name() string                       { return "alarm" }
func (alarm) Decode(payload []byte) (any, error) { return payload, nil }

func (a alarm) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	if _, ok := in.(strategy.Start); !ok {
		return nil
	}
	if a.panics {
		panic("alarmed")
	}
	return []strategy.Output{strategy.Warn{Message: "smoke"}}
}

func TestWarningsEndARunUnlessSomebodyHearsThem(t *testing.T) {
	play := func(panics bool, warned func(member int, message string)) error {
		s := scenario(t, "ts", 2, 4)
		s.Members[1].Exchanges = []strategy.Exchange{presence.New(), alarm{panics}}
		s.Warned = warned
		_, err := sim.Run(context.Background(), s)
		return err
	}
	if err := play(false, nil); err == nil || !strings.Contains(err.Error(), "the agent warns: smoke") {
		t.Errorf("without a handler: %v", err)
	}
	received := 0
	err := play(false, func(member int, message string) {
		if member != 1 || message != "smoke" {
			t.Errorf("member %d warns of %q", member, message)
		}
		received++
	})
	if err != nil || received != 1 {
		t.Errorf("received %d warnings, want 1: %v", received, err)
	}
	if err := play(true, func(int, string) {}); err == nil || !strings.Contains(err.Error(), "alarmed") {
		t.Errorf("a panic: %v", err)
	}
}
