//go:build linux

package main_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
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

const (
	manyTasks  = 200
	trialsOf   = 3                // outcomes of each task
	settleTime = 10 * time.Second // before idle processor time is measured
	idleTime   = 30 * time.Second
	clockTicks = 100 // per second, in /proc/PID/stat
)

// BenchmarkServeTasks reports what serve needs for 200 tasks of its last start, with three outcomes
// each: the time of the start, the resident memory, the processor time while idle, and the number of
// series of metrics.
func BenchmarkServeTasks(b *testing.B) {
	program, dir := released(b), shortTempDir(b)
	first := startReleasedServe(b, program, dir)
	first.fill(b)
	first.end(b)
	var sum footprint
	for b.Loop() {
		p := startReleasedServe(b, program, dir, "--metrics", "127.0.0.1:0")
		sum.add(b, p)
		p.end(b)
	}
	sum.report(b)
}

// BenchmarkServeCommonTasks reports the same for a node whose only peer has the same 200 tasks, and
// the number of connected peers. The time of the start is that without tasks.
func BenchmarkServeCommonTasks(b *testing.B) {
	program := released(b)
	var sum footprint
	for b.Loop() {
		nodes := []*releasedServe{startReleasedServe(b, program, shortTempDir(b), "--metrics", "127.0.0.1:0")}
		nodes = append(nodes, startReleasedServe(b, program, shortTempDir(b), "--metrics", "127.0.0.1:0", "--peer", nodes[0].address))
		var filling sync.WaitGroup
		for _, p := range nodes {
			filling.Go(func() { p.fill(b) })
		}
		filling.Wait()
		sum.add(b, nodes[0])
		for _, p := range nodes {
			p.end(b)
		}
	}
	sum.report(b)
}

// footprint sums the figures of several processes.
type footprint struct {
	runs                             int
	start, processor                 time.Duration
	resident, series, connectedPeers float64
}

// add measures a process while it is idle.
func (f *footprint) add(b *testing.B, p *releasedServe) {
	b.Helper()
	pid := p.command.Process.Pid
	time.Sleep(settleTime)
	before := cpuTicks(b, pid)
	time.Sleep(idleTime)
	f.processor += time.Duration(cpuTicks(b, pid)-before) * time.Second / clockTicks
	f.resident += residentMB(b, pid)
	for _, m := range p.metrics(b) {
		if strings.HasPrefix(m.name, "fbo_") {
			f.series++
		}
		if m.name == "fbo_connected_peers" {
			f.connectedPeers += m.value
		}
	}
	f.start += p.took
	f.runs++
}

func (f *footprint) report(b *testing.B) {
	runs := float64(f.runs)
	b.ReportMetric(f.start.Seconds()/runs, "s-to-serve")
	b.ReportMetric(f.resident/runs, "MB-resident")
	b.ReportMetric(100*f.processor.Seconds()/runs/idleTime.Seconds(), "%-of-a-core")
	b.ReportMetric(f.series/runs, "series")
	b.ReportMetric(f.connectedPeers/runs, "peers")
	b.ReportMetric(0, "ns/op")
}

// fill creates the tasks with their outcomes.
func (p *releasedServe) fill(b *testing.B) {
	b.Helper()
	for i := range manyTasks {
		mustRequest(b, 201, p.client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(smallTask, i)})
		for trial := range trialsOf {
			mustRequest(b, 200, p.client, "POST", fmt.Sprintf("/v1/tasks/small%d/ask", i), object{"client": "a"})
			mustRequest(b, 200, p.client, "POST", fmt.Sprintf("/v1/tasks/small%d/trials/%d/tell", i, trial+1), object{"value": trial})
		}
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
