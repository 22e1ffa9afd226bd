package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

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
