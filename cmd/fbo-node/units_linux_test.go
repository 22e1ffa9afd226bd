package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

const unitProgram = "/usr/local/bin/fbo-node"

// setting returns the value of a key in a systemd unit.
func setting(t *testing.T, unit, key string) string {
	t.Helper()
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^`+key+`=(.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(found) != 1 {
		t.Fatalf("%s has %d lines %s=", unit, len(found), key)
	}
	return found[0][1]
}

func units(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../deploy/*.service")
	if err != nil || len(files) == 0 {
		t.Fatalf("no units: %v", err)
	}
	return files
}

// systemd itself reads the units, with this test's program in place of the
// installed one.
func TestUnitsAreValid(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze, which reads the units, is not here")
	}
	dir := t.TempDir()
	for _, unit := range units(t) {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Replace(filepath.Base(unit), "@.", "@a.", 1)
		here := strings.ReplaceAll(string(text), unitProgram, os.Args[0])
		if err := os.WriteFile(filepath.Join(dir, name), []byte(here), 0o600); err != nil {
			t.Fatal(err)
		}
		verify := exec.Command("systemd-analyze", "verify", "--man=no", filepath.Join(dir, name))
		// What is wrong with other units of this machine is none of ours.
		if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), name) {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}

// A restart helps against no wrong usage.
func TestUnitsDoNotRestartAfterWrongUsage(t *testing.T) {
	t.Parallel()
	for _, unit := range units(t) {
		if codes := strings.Fields(setting(t, unit, "RestartPreventExitStatus")); codes[0] != strconv.Itoa(base.ExitUsage) {
			t.Errorf("%s prevents restarts after %q, not after %d", unit, codes, base.ExitUsage)
		}
		if policy := setting(t, unit, "Restart"); policy != "on-failure" {
			t.Errorf("%s: Restart=%s would start a node that has finished again", unit, policy)
		}
	}
}

// unitLine is the command line of a unit as systemd makes it.
func unitLine(t *testing.T, unit string, variables map[string]string) *exec.Cmd {
	t.Helper()
	line := setting(t, unit, "ExecStart")
	for name, value := range variables {
		line = strings.ReplaceAll(line, name, value)
	}
	words := strings.Fields(line)
	if words[0] != unitProgram {
		t.Fatalf("%s starts %s", unit, words[0])
	}
	return nodeCommand(words[1:]...)
}

// The units' command lines work: a node finishes, and has nothing to do when the
// machine starts again; the others run until they are told to stop.
func TestSystemdUnitCommandLinesStart(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	for range 2 {
		node := unitLine(t, "../../deploy/fbo-node@.service", map[string]string{
			"/etc/fbo/%i.yaml": file,
			"$FLAGS":           "--evals 2 --mdns=false --listen /ip4/127.0.0.1/tcp/0",
			"$COMMAND":         strings.Join(objective("bowl")[1:], " "),
		})
		node.Env = append(node.Env, base.DataDirVariable+"="+dir)
		if e := finish(t, node); e.code != base.ExitDone || !strings.Contains(e.stdout, "in 2 evaluations (0 failed)") {
			t.Errorf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
		}
	}
	for unit, started := range map[string]string{"fbo-hub.service": "hub_started", "fbo-keep@.service": "keeper_started", "fbo-serve.service": "serving"} {
		command := unitLine(t, "../../deploy/"+unit, map[string]string{
			"/etc/fbo/%i.yaml": file,
			"$FLAGS":           "--json --listen /ip4/127.0.0.1/tcp/0",
		})
		command.Env = append(command.Env, base.DataDirVariable+"="+shortTempDir(t))
		p := startCommand(t, command)
		p.await(t, "its start", isEvent(started))
		p.signal(t, syscall.SIGTERM)
		if code := p.wait(t); code != base.ExitDone {
			t.Errorf("%s: exit code %d, %s", unit, code, p.stderr.String())
		}
	}
}
