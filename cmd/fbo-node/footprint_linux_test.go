//go:build linux

package main

import (
	"encoding/json"
	"fmt"
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
	program, file := filepath.Join(dir, "fbo-node"), filepath.Join(dir, "task.yaml")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
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

func residentMB(b testing.TB, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kilobytes); n == 1 {
			return kilobytes * 1024 / 1e6
		}
	}
	b.Fatal("no VmRSS in the process's status")
	return 0
}
