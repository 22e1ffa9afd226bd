package doctorcmd

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestJudgeClock(t *testing.T) {
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		now, built, written time.Time
		want                grade
		says                string
	}{
		{now, time.Time{}, time.Time{}, gradeOK, "2030-05-01T12:00:00Z"},
		{now, now.Add(59 * time.Minute), now.Add(59 * time.Minute), gradeOK, ""},
		{time.Unix(0, 0), time.Time{}, time.Time{}, gradeWarn, "before 2024"},
		{now, now.Add(61 * time.Minute), time.Time{}, gradeWarn, "before this program was made"},
		{now, now.Add(-time.Hour), now.Add(2 * time.Hour), gradeWarn, "before the journal was last written"},
	} {
		f := judgeClock(c.now, c.built, c.written)
		if f.Grade != c.want || !strings.Contains(f.Finding, c.says) || (f.Grade == gradeWarn) != (f.Advice != "") {
			t.Errorf("%v, %v, %v: %+v", c.now, c.built, c.written, f)
		}
	}
}

func TestEndpointOf(t *testing.T) {
	for text, want := range map[string]endpoint{
		"/ip4/0.0.0.0/udp/4001/quic-v1": {"udp4", "0.0.0.0", "4001"},
		"/ip4/127.0.0.1/tcp/0":          {"tcp4", "127.0.0.1", "0"},
		"/ip6/::/udp/1/quic-v1":         {"udp6", "::", "1"},
		"/ip6/::1/tcp/2/p2p/12D3KooWGRUVp3QnFP5vfoqNXhRLSHpR8s4VbQYoyLQwVkkvUrvG": {"tcp6", "::1", "2"},
	} {
		if got, ok := endpointOf(text); !ok || got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "foo", "/dns4/localhost/tcp/1", "/ip4/127.0.0.1", "/unix/tmp/x"} {
		if got, ok := endpointOf(text); ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if f := checkPort("/dns4/localhost/tcp/1", true, nil); f.Grade != gradeSkip {
		t.Errorf("got %+v", f)
	}
	if f := checkPort("/ip4/192.0.2.1/tcp/0", true, nil); f.Grade != gradeFail || !strings.Contains(f.Finding, "192.0.2.1") {
		t.Errorf("somebody else's address: %+v", f)
	}
}

func TestJudgeBuffer(t *testing.T) {
	for _, c := range []struct {
		size int
		err  error
		want finding
	}{
		{wantedBuffer, nil, finding{Grade: gradeOK, Check: "udp receive", Finding: "buffer of 7168 KiB"}},
		{wantedBuffer - 1, nil, finding{gradeWarn, "udp receive", "buffer of 7167 KiB, QUIC asks for 7168: packets may be lost when much comes at once", receiving.advice()}},
		{0, errNotHere, finding{Grade: gradeSkip, Check: "udp receive", Finding: errNotHere.Error()}},
	} {
		if got := receiving.judge(c.size, c.err); got != c.want {
			t.Errorf("%d, %v: %+v", c.size, c.err, got)
		}
	}
	if runtime.GOOS == "linux" && (!strings.Contains(receiving.advice(), "rmem_max") || !strings.Contains(sending.advice(), "wmem_max")) {
		t.Errorf("advice %q and %q", receiving.advice(), sending.advice())
	}
}

// TestShowFindings: what failed decides, and every finding is one line.
func TestShowFindings(t *testing.T) {
	findings := []finding{ok("a", "fine"), warn("b", "better it", "so so"), skip("c", "not checked")}
	var text strings.Builder
	if err := showFindings(&text, findings, nil, false); err != nil {
		t.Error(err)
	}
	const want = "ok    a               fine\nwarn  b               so so; do: better it\nskip  c               not checked\n"
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	findings = append(findings, fail("d", "mend it", "broken"), fail("e", "", "broken"))
	text.Reset()
	if err := showFindings(&text, findings, nil, true); err == nil || err.Error() != "doctor: 2 checks of 5 failed" {
		t.Errorf("got %v", err)
	}
	if !strings.HasPrefix(text.String(), `{"ok":false,"checks":[{"status":"ok","check":"a","finding":"fine"},{"status":"warn","check":"b","finding":"so so","advice":"better it"}`) {
		t.Errorf("got %s", text.String())
	}
}
