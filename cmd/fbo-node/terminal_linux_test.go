package main_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudoterminal.
func openTerminal(t *testing.T) (screen, line *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals here:", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	line, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, line
}

// TestClosedTerminal: closing the window in which a run writes hands its trial
// back and ends its evaluation.
func TestClosedTerminal(t *testing.T) {
	t.Parallel()
	hearHangUps()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	screen, line := openTerminal(t)
	g := newGate(t)
	command := nodeCommand(join(runLine(file, dir), objective("gate", g.address, "2"))...)
	command.Stdin, command.Stdout, command.Stderr = line, line, line
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line.Close()
	slow := time.AfterFunc(patienceOfTests, func() { _ = command.Process.Kill() })
	defer slow.Stop()
	h := g.next(t)
	screen.Close()
	if err := command.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	h.waitGone(t)
	trials := historyOf(t, dir)
	if len(trials) != 2 || trials[1].State != "waiting" || trials[1].Attempts != 0 {
		t.Errorf("history %+v, want a second trial that was handed back", trials)
	}
}

// TestTerminalLine: on a terminal a line below the others says where the run stands, within
// its width, and is gone at the end; colours are there unless the user wants none.
func TestTerminalLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		variable string
		colours  bool
	}{"colours": {"NO_COLOR=", true}, "none": {"NO_COLOR=1", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
			screen, line := openTerminal(t)
			if err := unix.IoctlSetWinsize(int(line.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 50}); err != nil {
				t.Fatal(err)
			}
			command := nodeCommand(append(runLine(file, dir, "--evals", "3", "--wait-for-peers", "0"), objective("sometimes")...)...)
			command.Env = append(command.Env, c.variable, "TERM=xterm")
			command.Stdout = line
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			line.Close()
			shown, _ := io.ReadAll(screen) // ends with an error when the last writer has gone
			if err := command.Wait(); err != nil {
				t.Error(err)
			}
			text := string(shown)
			if got := strings.Contains(text, "\x1b[31mfailed:\x1b[0m"); got != c.colours {
				t.Errorf("colours: %v\n%q", got, text)
			}
			if !strings.Contains(text, "2 of 3 evaluations · 1 failed") && !strings.Contains(text, "2 of 3 evaluations · 1 running · 1 failed") {
				t.Errorf("no line of the run's state in\n%q", text)
			}
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
				if strings.Contains(part, " of 3 evaluations") && !strings.Contains(part, "--evals") && utf8.RuneCountInString(strings.TrimPrefix(part, "\x1b[K")) > 49 {
					t.Errorf("wider than the terminal: %q", part)
				}
			}
			last := text[strings.LastIndex(text, "evaluations ·"):]
			if !strings.Contains(last, "\r\x1b[K") {
				t.Errorf("the line stays at the end: %q", last)
			}
		})
	}
}
