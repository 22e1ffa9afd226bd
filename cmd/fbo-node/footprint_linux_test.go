//go:build linux

package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// BenchmarkFootprint starts the released form of the program on a task whose
// objective sleeps, and reports how long it takes to the first suggestion, what
// is resident after some idle seconds, and how large the program is.
func BenchmarkFootprint(b *testing.B) {
	dir := b.TempDir()
	program, file := released(b), filepath.Join(dir, "task.yaml")
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(bowlTask), 0o600); err != nil {
		b.Fatal(err)
	}
	const idle = 5 * time.Second
	var first time.Duration
	resident := 0.0
	runs := 0
	for b.Loop() {
		data := filepath.Join(dir, fmt.Sprint("data", runs))
		runs++
		p := startReleased(b, program, "run", file, "--json", "--mdns=false", "--data-dir", data, "--", "sleep", "60")
		first += p.await(b, "a trial", isEvent("trial_started")).at.Sub(p.began)
		time.Sleep(idle)
		resident += residentMB(b, p.command.Process.Pid)
		p.signal(b, os.Interrupt)
		p.wait(b)
	}
	b.ReportMetric(first.Seconds()/float64(runs), "s-to-first-suggestion")
	b.ReportMetric(resident/float64(runs), "MB-resident")
	b.ReportMetric(float64(info.Size())/1e6, "MB-program")
	b.ReportMetric(0, "ns/op")
}

// released builds the program as it is given to users.
func released(b testing.TB) (program string) {
	b.Helper()
	program = filepath.Join(b.TempDir(), "fbo-node")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}

// startReleased starts the released form of the program, which prints events. Unlike start it logs
// nothing of a failed test.
func startReleased(t testing.TB, program string, args ...string) *process {
	t.Helper()
	p := newProcess(exec.Command(program, args...))
	p.launch(t)
	return p
}

// releasedServe is a process of the released form of serve.
type releasedServe struct {
	*process
	address string
	took    time.Duration // from the start of the process until it served all tasks
	client  *http.Client  // of its socket
}

func startReleasedServe(b *testing.B, program, dir string, flags ...string) *releasedServe {
	b.Helper()
	p := startReleased(b, program, serveLine(dir, flags...)...)
	serving := p.await(b, "its tasks", isEvent("serving"))
	return &releasedServe{p, serving.Addresses[0], serving.at.Sub(p.began), socketClient(dir)}
}

func (p *releasedServe) end(b *testing.B) {
	b.Helper()
	p.signal(b, os.Interrupt)
	if code := p.wait(b); code != base.ExitDone {
		b.Fatalf("exit code %d: %s", code, p.stderr.String())
	}
}

// BenchmarkServeFootprint reports what the daemon has resident with one task, a minute
// after the last of ten trials.
func BenchmarkServeFootprint(b *testing.B) {
	program := released(b)
	const idle = time.Minute
	resident, runs := 0.0, 0
	for b.Loop() {
		p := startReleasedServe(b, program, shortTempDir(b))
		mustRequest(b, 201, p.client, "POST", "/v1/tasks", object{"text": bowlTask})
		for trial := range 10 {
			mustRequest(b, 200, p.client, "POST", "/v1/tasks/bowl/ask", object{"client": "a"})
			mustRequest(b, 200, p.client, "POST", fmt.Sprintf("/v1/tasks/bowl/trials/%d/tell", trial+1), object{"value": trial})
		}
		time.Sleep(idle)
		resident += residentMB(b, p.command.Process.Pid)
		runs++
		p.end(b)
	}
	b.ReportMetric(resident/float64(runs), "MB-resident")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFloor reports the memory of the least that a node can be: the runtime with the linked
// packages, then a libp2p host, then gossipsub on one topic. Of the resident memory "own" is not
// shared with the file of the program.
func BenchmarkFloor(b *testing.B) {
	program := filepath.Join(b.TempDir(), "floor")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../node/internal/gossip/testdata/floor")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	for _, parts := range []string{"runtime", "host", "gossip"} {
		b.Run(parts, func(b *testing.B) {
			resident, own, runs := 0.0, 0.0, 0.0
			for b.Loop() {
				floor := exec.Command(program, parts)
				in, err := floor.StdinPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := floor.Start(); err != nil {
					b.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				resident += residentMB(b, floor.Process.Pid)
				own += statusMB(b, floor.Process.Pid, "RssAnon")
				runs++
				_ = in.Close()
				if err := floor.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(resident/runs, "MB-resident")
			b.ReportMetric(own/runs, "MB-own")
			b.ReportMetric(float64(info.Size())/1e6, "MB-program")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkSuggestFootprint reports what the daemon has resident after an ask of one task at 25
// and 200 outcomes, and the most that it had until then.
func BenchmarkSuggestFootprint(b *testing.B) {
	program := released(b)
	for b.Loop() {
		p := startReleasedServe(b, program, shortTempDir(b))
		mustRequest(b, 201, p.client, "POST", "/v1/tasks", object{"text": bowlTask})
		for outcomes := range 201 {
			mustRequest(b, 200, p.client, "POST", "/v1/tasks/bowl/ask", object{"client": "a"})
			if outcomes == 25 || outcomes == 200 {
				for name, field := range map[string]string{"resident": "VmRSS", "own": "RssAnon", "most": "VmHWM"} {
					b.ReportMetric(statusMB(b, p.command.Process.Pid, field), fmt.Sprintf("MB-%s-at-%d", name, outcomes))
				}
			}
			mustRequest(b, 200, p.client, "POST", fmt.Sprintf("/v1/tasks/bowl/trials/%d/tell", outcomes+1), object{"value": outcomes * 37 % 101})
		}
		p.end(b)
	}
	b.ReportMetric(0, "ns/op")
}

// residentMB returns the resident memory of a process in MB.
func residentMB(b testing.TB, pid int) float64 { return statusMB(b, pid, "VmRSS") }

// statusMB returns a field of a process's status, such as VmHWM, in MB.
func statusMB(b testing.TB, pid int, field string) float64 {
	b.Helper()
	return fieldMB(b, fmt.Sprintf("/proc/%d/status", pid), field)
}

// fieldMB returns a field of a file such as /proc/meminfo in MB.
func fieldMB(b testing.TB, file, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes float64
		if n, _ := fmt.Sscanf(line, field+": %f kB", &kilobytes); n == 1 {
			return kilobytes * 1024 / 1e6
		}
	}
	b.Fatalf("no %s in %s", field, file)
	return 0
}
