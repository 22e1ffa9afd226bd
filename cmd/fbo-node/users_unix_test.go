//go:build unix && !solaris && !aix && !android

package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
)

func useNode(t *testing.T, dir string) *os.File {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(dir, "users.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	return lock
}

func TestServeEndsWithItsLastUser(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	first := useNode(t, dir)
	p := start(t, serveLine(dir, "--until-unused")...)
	p.await(t, "the daemon's start", isEvent("serving"))
	second := useNode(t, dir)
	first.Close()
	var node struct {
		UntilUnused bool `json:"until_unused"`
	}
	decode(t, string(mustRequest(t, http.StatusOK, socketClient(dir), "GET", "/v1/node", nil)), &node)
	if !node.UntilUnused {
		t.Error("until_unused is false")
	}
	client := socketClient(dir)
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, "bowl")})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/bowl/ask", object{"client": "dead"})
	second.Close()
	<-p.ended
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].State != string(strategy.Waiting) {
		t.Errorf("the trial of a program that has ended: %+v", trials)
	}
	if text := must(t, "status", "--data-dir", dir); !strings.Contains(text, "1 interrupted (offered again by the next start") {
		t.Errorf("status prints %s", text)
	}
	if code := p.command.ProcessState.ExitCode(); code != base.ExitDone {
		t.Errorf("it ended with code %d", code)
	}
}

func TestServeOutlivesTheReaderOfItsOutput(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	lock := useNode(t, dir)
	command := nodeCommand(serveLine(dir, "--until-unused")...)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = write
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	write.Close()
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	read.Close()
	lock.Close()
	if err := command.Wait(); err != nil { // it prints that it ends
		t.Errorf("it ended with %v", err)
	}
}
