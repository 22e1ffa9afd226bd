//go:build linux

package main_test

import (
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
)

// smallTask has the default strategy and surrogate.
const smallTask = `name: small%d
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
`

// BenchmarkServeTasks reports what serve needs for 200 tasks of its last start, with three outcomes
// each: the time of the start, the resident memory, the processor time while idle, and the number of
// series of metrics.
func BenchmarkServeTasks(b *testing.B) {
	const (
		tasks   = 200
		trials  = 3
		settle  = 10 * time.Second
		idle    = 30 * time.Second
		ticks   = 100 // per second, in /proc/PID/stat
		metrics = "fbo_"
	)
	program := released(b)
	dir, err := os.MkdirTemp("", "fbo") // short enough for the name of a socket
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	line := serveLine(dir, "--metrics", "127.0.0.1:0")
	first := startReleased(b, program, line)
	client := socketClient(dir)
	for i := range tasks {
		mustRequest(b, 201, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(smallTask, i)})
		for trial := range trials {
			mustRequest(b, 200, client, "POST", fmt.Sprintf("/v1/tasks/small%d/ask", i), object{"client": "a"})
			mustRequest(b, 200, client, "POST", fmt.Sprintf("/v1/tasks/small%d/trials/%d/tell", i, trial+1), object{"value": trial})
		}
	}
	first.end(b)
	var start, processor time.Duration
	var resident, series float64
	runs := 0
	for b.Loop() {
		p := startReleased(b, program, line)
		start += p.took
		time.Sleep(settle)
		before := cpuTicks(b, p.command.Process.Pid)
		time.Sleep(idle)
		processor += time.Duration(cpuTicks(b, p.command.Process.Pid)-before) * time.Second / ticks
		resident += residentMB(b, p.command.Process.Pid)
		response, err := http.Get(p.metrics)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		series += float64(strings.Count(string(text), "\n"+metrics))
		p.end(b)
		runs++
	}
	b.ReportMetric(start.Seconds()/float64(runs), "s-to-serve")
	b.ReportMetric(resident/float64(runs), "MB-resident")
	b.ReportMetric(100*processor.Seconds()/float64(runs)/idle.Seconds(), "%-of-a-core")
	b.ReportMetric(series/float64(runs), "series")
	b.ReportMetric(0, "ns/op")
}

// releasedServe is a process of the released form of serve.
type releasedServe struct {
	command *exec.Cmd
	took    time.Duration // from the start of the process until it served all tasks
	metrics string        // address of its metrics
	drained chan struct{}
}

func startReleased(b *testing.B, program string, line []string) *releasedServe {
	b.Helper()
	p := &releasedServe{command: exec.Command(program, line...), drained: make(chan struct{})}
	out, err := p.command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := p.command.Start(); err != nil {
		b.Fatal(err)
	}
	events := json.NewDecoder(out)
	for {
		var e event
		if err := events.Decode(&e); err != nil {
			b.Fatal(err)
		}
		if e.Event == "metrics_served" {
			p.metrics = e.URL
		}
		if e.Event == "serving" {
			break
		}
	}
	p.took = time.Since(began)
	go func() {
		defer close(p.drained)
		_, _ = io.Copy(io.Discard, out)
	}()
	return p
}

func (p *releasedServe) end(b *testing.B) {
	b.Helper()
	_ = p.command.Process.Signal(os.Interrupt)
	<-p.drained
	if err := p.command.Wait(); err != nil {
		b.Fatal(err)
	}
}

// cpuTicks returns the processor time of a process, in ticks.
func cpuTicks(b *testing.B, pid int) (sum int) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name may contain spaces
	fields := strings.Fields(after)
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		sum += n
	}
	return sum
}
