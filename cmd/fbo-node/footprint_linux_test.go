//go:build linux

package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		node := exec.Command(program, "run", file, "--json", "--mdns=false", "--data-dir", data, "--", "sleep", "60")
		out, err := node.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := node.Start(); err != nil {
			b.Fatal(err)
		}
		events := json.NewDecoder(out)
		for {
			var e event
			if err := events.Decode(&e); err != nil {
				b.Fatal(err)
			}
			if e.Event == "trial_started" {
				break
			}
		}
		first += time.Since(began)
		time.Sleep(idle)
		resident += residentMB(b, node.Process.Pid)
		_ = node.Process.Signal(os.Interrupt)
		_ = node.Wait()
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

// startDaemon starts serve in a new directory, and returns it with a client of its socket.
func startDaemon(b *testing.B, program string) (*exec.Cmd, *http.Client) {
	b.Helper()
	dir, err := os.MkdirTemp("", "fbo") // short enough for the name of a socket
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	daemon := exec.Command(program, serveLine(dir)...)
	out, err := daemon.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		b.Fatal(err)
	}
	var e event
	for events := json.NewDecoder(out); e.Event != "serving"; {
		if err := events.Decode(&e); err != nil {
			b.Fatalf("%+v, %v", e, err)
		}
	}
	return daemon, socketClient(dir)
}

// BenchmarkServeFootprint reports what the daemon has resident with one task, a minute
// after the last of ten trials.
func BenchmarkServeFootprint(b *testing.B) {
	program := released(b)
	const idle = time.Minute
	resident, runs := 0.0, 0
	for b.Loop() {
		daemon, client := startDaemon(b, program)
		mustRequest(b, 201, client, "POST", "/v1/tasks", object{"text": bowlTask})
		for trial := range 10 {
			mustRequest(b, 200, client, "POST", "/v1/tasks/bowl/ask", object{"client": "a"})
			mustRequest(b, 200, client, "POST", fmt.Sprintf("/v1/tasks/bowl/trials/%d/tell", trial+1), object{"value": trial})
		}
		time.Sleep(idle)
		resident += residentMB(b, daemon.Process.Pid)
		runs++
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
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
		daemon, client := startDaemon(b, program)
		mustRequest(b, 201, client, "POST", "/v1/tasks", object{"text": bowlTask})
		for outcomes := range 201 {
			mustRequest(b, 200, client, "POST", "/v1/tasks/bowl/ask", object{"client": "a"})
			if outcomes == 25 || outcomes == 200 {
				for name, field := range map[string]string{"resident": "VmRSS", "own": "RssAnon", "most": "VmHWM"} {
					b.ReportMetric(statusMB(b, daemon.Process.Pid, field), fmt.Sprintf("MB-%s-at-%d", name, outcomes))
				}
			}
			mustRequest(b, 200, client, "POST", fmt.Sprintf("/v1/tasks/bowl/trials/%d/tell", outcomes+1), object{"value": outcomes * 37 % 101})
		}
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
	}
	b.ReportMetric(0, "ns/op")
}

// residentMB returns the resident memory of a process in MB.
func residentMB(b testing.TB, pid int) float64 { return statusMB(b, pid, "VmRSS") }

// statusMB returns a field of a process's status, such as VmHWM, in MB.
func statusMB(b testing.TB, pid int, field string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes float64
		if n, _ := fmt.Sscanf(line, field+": %f kB", &kilobytes); n == 1 {
			return kilobytes * 1024 / 1e6
		}
	}
	b.Fatalf("no %s in the process's status", field)
	return 0
}
