package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fbo-node/fbo/internal/curves"
)

// A program writes the reason for its stop. The trial has it without control characters, and bounded.
func TestReasonsOfStopsAreSanitised(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "bowl", concurrent), 1))
	trial := d.ask()
	if _, err := d.agent.Report(d.now, trial.ID, []curves.Step{{Step: 1, Value: 2}}); err != nil {
		t.Fatal(err)
	}
	if err := d.agent.EndStopped(d.now, trial.ID, "\x1b[2Jgone\xff "+strings.Repeat("ä", 3000)); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	stop := d.agent.Trials()[trial.ID-1].Stop
	if strings.ContainsRune(stop.Reason, '\x1b') || !strings.HasPrefix(stop.Reason, `\x1b[2Jgone`) || !utf8.ValidString(stop.Reason) || utf8.RuneCountInString(stop.Reason) > maxReason+10 {
		t.Errorf("%d characters, %.40q", utf8.RuneCountInString(stop.Reason), stop.Reason)
	}
}
