//go:build linux && long

package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/adversary"
)

const planVariable = "FBO_HOSTILE_PLAN"

// attackersPlan is what the process of the attackers is told.
type attackersPlan struct {
	adversary.Plan
	Metrics []string // of the attacked nodes, which are read from where they can be reached
}

// attackersReport is what it says, at first without numbers, when the attack is under way.
type attackersReport struct {
	Ready      bool
	Counts     map[string]int
	Goroutines int    // the most that an attacked node had
	Error      string // why the attack ended early
}

// attackers are a process: what they use is not the nodes'.
type attackers struct {
	stdin   io.Closer
	reports chan attackersReport
	command *exec.Cmd
}

// startAttackers returns when the attack is under way. in is a command that enters the
// attackers' namespace. Unless they must be quick they give way to the nodes, whose
// machine would not be theirs.
func startAttackers(t *testing.T, in []string, quick bool, plan attackersPlan) *attackers {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if !quick {
		in = join(in, []string{"nice", "-n", "15"})
	}
	line := join(in, []string{os.Args[0], "-test.run=^TestLongHostileAttackers$", "-test.timeout=0"})
	a := &attackers{command: exec.Command(line[0], line[1:]...), reports: make(chan attackersReport, 2)}
	a.command.Env = append(os.Environ(), planVariable+"="+string(text), "GOLOG_OUTPUT=file", "GOLOG_FILE="+os.DevNull)
	a.command.Stderr = os.Stderr
	if a.stdin, err = a.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := a.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(a.reports)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var r attackersReport
			if json.Unmarshal(lines.Bytes(), &r) == nil {
				a.reports <- r
			}
		}
	}()
	t.Cleanup(func() {
		_ = a.command.Process.Kill()
		_ = a.command.Wait()
	})
	a.next(t)
	return a
}

func (a *attackers) next(t *testing.T) attackersReport {
	t.Helper()
	select {
	case r, ok := <-a.reports:
		if !ok || r.Error != "" {
			t.Fatalf("the attackers have ended: %s", r.Error)
		}
		return r
	case <-time.After(patienceOfTests):
		t.Fatal("nothing is heard of the attackers")
		return attackersReport{}
	}
}

// end ends the attack.
func (a *attackers) end(t *testing.T) attackersReport {
	t.Helper()
	_ = a.stdin.Close()
	return a.next(t)
}

// TestLongHostileAttackers is the process of the attackers.
func TestLongHostileAttackers(t *testing.T) {
	text := os.Getenv(planVariable)
	if text == "" {
		t.Skip("a part of TestLongHostileCompany")
	}
	var plan attackersPlan
	decode(t, text, &plan)
	attack, err := adversary.ByName(plan.Attack)
	if err != nil {
		t.Fatal(err)
	}
	printLine := func(r attackersReport) {
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			t.Error(err)
		}
	}
	f, err := adversary.NewField(plan.Plan, func() { printLine(attackersReport{Ready: true}) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is the order to end
		cancel()
	}()
	most := make(chan int)
	go func() { most <- maxGoroutines(ctx, plan.Metrics) }()
	failed := attack.Run(ctx, f)
	report := attackersReport{Counts: f.Counts()}
	if failed != nil {
		report.Error = failed.Error()
	} else {
		<-ctx.Done()
		report.Goroutines = <-most
	}
	printLine(report)
}

// maxGoroutines reads the metrics of nodes every half a second until ctx ends.
func maxGoroutines(ctx context.Context, urls []string) (most int) {
	client := http.Client{Timeout: 2 * time.Second}
	for ctx.Err() == nil {
		for _, url := range urls {
			if n, err := goroutines(client, url); err == nil {
				most = max(most, n)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second / 2):
		}
	}
	return most
}

func goroutines(client http.Client, url string) (int, error) {
	response, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			return strconv.Atoi(text)
		}
	}
	return 0, fmt.Errorf("%s has no goroutines", url)
}
