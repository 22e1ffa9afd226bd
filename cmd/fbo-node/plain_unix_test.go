//go:build unix

package main_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// controls are what would move a terminal's cursor, colour or title, or hide text.
const controls = "\x1b[2J\x1b]0;title\x07\u009b31m\r\n\x00\u202e\u200b\x7f"

// showable fails when some output does to a terminal what a peer wants.
func showable(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%s: %q at byte %d of %q", what, r, i, text)
			return
		}
	}
}

// A peer's program and protocols are shown by doctor so that they do nothing to the
// terminal, in text and in JSON.
func TestDoctorAndAPeerWithControlSequences(t *testing.T) {
	t.Parallel()
	const forged = "ok    peer's task     it takes part in"
	h, err := libp2p.New(libp2p.UserAgent("ev"+controls+"\n"+forged+" all)"+strings.Repeat("!", 300)), libp2p.DisableMetrics(),
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	handler := func(s network.Stream) { _ = s.Reset() }
	for i := range 10 {
		h.SetStreamHandler(protocol.ID(fmt.Sprint("/fbo/sync/1/", controls, "\n", forged, i)), handler)
	}
	file := writeFile(t, "task.yaml", bowlTask)
	elsewhere := must(t, "task", "id", writeFile(t, "elsewhere.yaml", strings.Replace(bowlTask, "bowl", "elsewhere", 1)))
	h.SetStreamHandler(protocol.ID("/fbo/sync/1/"+strings.TrimSpace(elsewhere)), handler)
	address := fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID())

	e := call(t, "doctor", file, "--data-dir", shortTempDir(t), "--peer", address)
	if e.code != base.ExitFailed || !strings.Contains(e.stdout, "takes part in "+strings.TrimSpace(elsewhere)+", not in") || !strings.Contains(e.stdout, `(ev\x1b[2J`) {
		t.Errorf("exit code %d\n%q", e.code, e.stdout)
	}
	showable(t, "standard output", e.stdout)
	showable(t, "standard error", e.stderr)
	for line := range strings.Lines(e.stdout) {
		if len(line) > 1000 || strings.HasPrefix(line, forged) {
			t.Errorf("a line of %d bytes: %.200q", len(line), line)
		}
	}
	e = call(t, "doctor", file, "--json", "--data-dir", shortTempDir(t), "--peer", address)
	showable(t, "JSON", e.stdout)
}

// TestLogWithControlSequences shows what a command prints as printable text.
func TestLogWithControlSequences(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "1"), []string{"--", "sh", "-c", `printf '\033[2J\033]0;title\007\342\200\256gone\n'; echo 1`})...)
	for _, args := range [][]string{{"log", "1"}, {"log", "--follow", "1"}} {
		shown := must(t, append(args, "--data-dir", dir)...)
		showable(t, strings.Join(args, " "), shown)
		if !strings.Contains(shown, `\x1b[2J\x1b]0;title\a\u202egone`) {
			t.Errorf("%q: %q has no escaped output", args, shown)
		}
	}
}

// TestErrorsWithControlSequences quotes an argument as printable text.
func TestErrorsWithControlSequences(t *testing.T) {
	t.Parallel()
	e := call(t, "task", "check", "no\x1b[2J\u202efile")
	if e.code == base.ExitDone || !strings.Contains(e.stderr, `no\x1b[2J\u202efile`) {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	showable(t, "standard error", e.stderr)
}
