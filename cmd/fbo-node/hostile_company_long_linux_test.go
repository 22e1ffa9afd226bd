//go:build linux && long

package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/adversary"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/exchange/presence"
)

// company is one row while it is played.
type company struct {
	t     *testing.T
	hosts *hosts // nil: all on loopback
	row   companyRow
	lasts time.Duration
	short bool // nobody said for how long

	usual, usualMB float64 // the most that a node of companyTask used without an attack: part of a core, memory
	quietMB        float64 // that a node of this row's task used before the attack; 0: not measured

	file, script string
	text         string // of the task
	nodes        []*companyNode
	hubAddress   string
}

type companyNode struct {
	dir     string
	id      peer.ID
	host    int // its namespace
	ip      string
	port    int
	metrics int
	process *process
	samples []sample
	until   time.Time // when it was told to end, or had ended
}

type sample struct {
	at  time.Time
	cpu time.Duration
	mb  float64
}

const (
	attackersHost = 4
	hubHost       = 5
)

// giveAttackersAddresses gives the fourth host sixty addresses of one range, and sixty of
// as many, to which all have a way.
func (h *hosts) giveAttackersAddresses() {
	for i := range 60 {
		h.ip("-n", h.of(attackersHost), "address", "add", attackersAddress(i, false)+"/24", "dev", "eth0")
		h.ip("-n", h.of(attackersHost), "address", "add", attackersAddress(i, true)+"/32", "dev", "eth0")
	}
	for i := range 5 {
		if i+1 != attackersHost {
			h.ip("-n", h.of(i+1), "route", "add", "10.0.0.0/8", "dev", "eth0")
		}
	}
}

// part takes from one host the way to another, which join gives back.
func (h *hosts) part(i, k int) {
	h.ip("-n", h.of(i), "route", "add", "blackhole", fmt.Sprintf("10.77.0.%d/32", k))
}
func (h *hosts) join(i, k int) {
	h.ip("-n", h.of(i), "route", "del", "blackhole", fmt.Sprintf("10.77.0.%d/32", k))
}

func attackersAddress(i int, ranges bool) string {
	if ranges {
		return fmt.Sprintf("10.%d.7.1", 100+i)
	}
	return fmt.Sprintf("10.77.0.%d", 101+i)
}

func (c *company) play() companyResult {
	t := c.t
	c.prepare()
	if c.row.middle {
		c.hosts.part(2, 3)
		defer c.hosts.join(2, 3)
	}
	if c.row.hub {
		c.startHub()
	}
	early := c.nodes[:len(c.nodes)-c.row.late]
	for _, n := range early {
		c.start(n)
	}
	quiet := c.usual
	for _, n := range early {
		n.process.await(t, "its first trial", isEvent("trial_finished"))
	}
	if c.row.task != "" && len(early) > 0 { // others need other shares of a core
		from := make([]sample, len(early))
		for i, n := range early {
			from[i] = n.sample(t)
		}
		time.Sleep(3 * time.Second) // what is measured
		for i, n := range early {
			later := n.sample(t)
			quiet, c.quietMB = max(quiet, from[i].share(later)), max(c.quietMB, later.mb)
		}
	}

	a := startAttackers(t, c.inside(attackersHost), c.row.middle, attackersPlan{Plan: c.plan(), Metrics: c.metrics()})
	began := time.Now()
	from := began
	for _, n := range c.nodes {
		if n.process == nil {
			c.start(n)
			n.process.await(t, "its first trial", isEvent("trial_finished"))
			from = time.Now().Add(timeToMeet)
		}
	}
	result := companyResult{row: c.row}
	end := time.Now().Add(c.lasts)
	leave := end
	if c.row.leaves {
		leave = end.Add(-c.lasts / 2)
	}
	last := c.nodes[2]
	for patience := end.Add(c.lasts + 10*time.Second); time.Now().Before(end) || !last.hasEnded() && time.Now().Before(patience); time.Sleep(200 * time.Millisecond) {
		for _, n := range c.nodes {
			n.watch()
		}
		if first := c.nodes[0]; time.Now().After(leave) && c.row.leaves && first.until.IsZero() {
			first.until = time.Now()
			first.process.signal(t, os.Interrupt)
		}
	}
	result.ended = last.hasEnded() && last.process.command.ProcessState.ExitCode() == base.ExitDone
	if c.row.sums {
		result.delivered = c.summed()
	}
	disclosed := time.Now()
	for i, n := range c.nodes {
		if n.watch(); n.hasEnded() && n.process.command.ProcessState.ExitCode() != base.ExitDone {
			t.Errorf("node %d ended by itself: %v: %s", i+1, n.process.command.ProcessState, n.process.stderr.String())
		}
		if n.until.IsZero() {
			n.until = disclosed
			n.process.signal(t, os.Interrupt)
		}
	}
	for _, n := range c.nodes {
		if n.until.Equal(disclosed) {
			if code := n.process.wait(t); code != base.ExitDone {
				t.Errorf("exit code %d: %s", code, n.process.stderr.String())
			}
			result.stopped = max(result.stopped, n.stopped().Sub(disclosed))
		}
		for _, s := range n.samples {
			result.mb = max(result.mb, s.mb)
		}
		if len(n.samples) > 1 {
			result.core = max(result.core, n.samples[0].share(n.samples[len(n.samples)-1])-quiet)
		}
		if at, ok := n.firstBan(); ok && (!result.wasBanned || at.Sub(began) < result.banned) {
			result.wasBanned, result.banned = true, max(0, at.Sub(began))
		}
	}
	report := a.end(t)
	result.counts, result.goroutines = report.Counts, report.Goroutines
	switch {
	case c.row.sums:
	case c.row.planned > 0:
		result.delivered = c.released()
	default:
		result.delivered = c.delivered(from)
	}
	return result
}

// prepare makes the nodes' identities, the task and the objective.
func (c *company) prepare() {
	var roster []string
	for i := range 3 {
		n := &companyNode{dir: shortTempDir(c.t), host: i + 1, ip: "127.0.0.1", port: 4001, metrics: 9464}
		if c.row.beside && i == 2 {
			n.host = attackersHost
		}
		if c.hosts != nil {
			n.ip = fmt.Sprintf("10.77.0.%d", n.host)
		} else {
			n.port, n.metrics = freePort(c.t), freePort(c.t)
		}
		text := strings.TrimSpace(must(c.t, "peer-id", "--data-dir", n.dir))
		var err error
		if n.id, err = peer.Decode(text); err != nil {
			c.t.Fatal(err)
		}
		roster = append(roster, text)
		c.nodes = append(c.nodes, n)
	}
	c.text = companyTask
	if c.row.task != "" {
		c.text = strings.Replace(c.row.task, "ROSTER", strings.Join(roster, ", "), 1)
	}
	scale := c.row.scale
	if scale == 0 {
		scale = 1
	}
	c.file = writeFile(c.t, "task.yaml", c.text)
	c.script = writeFile(c.t, "objective.sh", fmt.Sprintf("sleep 0.3\nawk \"BEGIN { print (($FBO_PARAM_X - 0.5)^2 + ($FBO_PARAM_Y - 0.3)^2) * %g }\"\n", scale))
}

// inside is a command that enters a host.
func (c *company) inside(host int) []string {
	if c.hosts == nil {
		return nil
	}
	return []string{"ip", "netns", "exec", c.hosts.of(host)}
}

func (c *company) run(host int, args ...string) *process {
	command := nodeCommand()
	line := join(c.inside(host), []string{os.Args[0]}, args)
	path, err := exec.LookPath(line[0])
	if err != nil {
		c.t.Fatal(err)
	}
	command.Path, command.Args = path, line
	command.Env = append(command.Env, "GOLOG_LOG_FMT=json")
	return startCommand(c.t, command)
}

// start runs a node; the third makes so many evaluations as it can while the attack lasts.
func (c *company) start(n *companyNode) {
	at := fmt.Sprintf("/ip4/%s/tcp/%d", n.ip, n.port)
	args := []string{"run", c.file, "--data-dir", n.dir, "--mdns=false", "--json", "--log-level", "error,fbo=warn",
		"--metrics", fmt.Sprintf("%s:%d", n.ip, n.metrics), "--listen", at}
	switch {
	case c.hubAddress != "":
		args = append(args, "--hub", c.hubAddress)
	case n != c.nodes[0]:
		args = append(args, "--peer", c.nodes[0].address())
	}
	if n == c.nodes[2] {
		pace := c.row.pace
		if pace == 0 {
			pace = 1.5
		}
		args = append(args, "--evals", strconv.Itoa(max(4, int(c.lasts.Seconds()*pace))))
	}
	n.process = c.run(n.host, join(args, []string{"--", "sh", c.script})...)
	n.process.await(c.t, "its start", isEvent("node_started"))
}

func (c *company) startHub() {
	ip, port := "127.0.0.1", 4001
	if c.hosts != nil {
		ip = fmt.Sprintf("10.77.0.%d", hubHost)
	}
	hub := c.run(hubHost, "hub", "--json", "--data-dir", shortTempDir(c.t), "--listen", fmt.Sprintf("/ip4/%s/tcp/%d", ip, port))
	c.hubAddress = hub.await(c.t, "the hub's start", isEvent("hub_started")).Addresses[0]
}

func (n *companyNode) address() string {
	return fmt.Sprintf("/ip4/%s/tcp/%d/p2p/%s", n.ip, n.port, n.id)
}

func (c *company) plan() adversary.Plan {
	plan := adversary.Plan{Attack: c.row.attack, Task: c.text}
	for _, n := range c.nodes {
		plan.Targets = append(plan.Targets, n.address())
	}
	if c.row.hub {
		plan.Targets = []string{c.hubAddress}
	}
	switch {
	case c.hosts == nil:
		plan.Addresses = []string{"127.0.0.1"}
	case c.row.beside:
		plan.Addresses = []string{fmt.Sprintf("10.77.0.%d", attackersHost)}
	default:
		for i := range 60 {
			plan.Addresses = append(plan.Addresses, attackersAddress(i, c.row.ranges))
		}
	}
	return plan
}

func (c *company) metrics() (urls []string) {
	for _, n := range c.nodes {
		urls = append(urls, fmt.Sprintf("http://%s:%d/metrics", n.ip, n.metrics))
	}
	return urls
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (n *companyNode) hasEnded() bool {
	select {
	case <-n.process.ended:
		return true
	default:
		return false
	}
}

// stopped is when its process had ended.
func (n *companyNode) stopped() time.Time { return n.process.endedAt }

// watch takes a sample of a node that runs.
func (n *companyNode) watch() {
	if n.hasEnded() {
		if n.until.IsZero() {
			n.until = n.stopped()
		}
		return
	}
	if s, ok := sampleOf(n.process.command.Process.Pid); ok {
		n.samples = append(n.samples, s)
	}
}

func (n *companyNode) sample(t *testing.T) sample {
	t.Helper()
	s, ok := sampleOf(n.process.command.Process.Pid)
	if !ok {
		t.Fatalf("the node has ended: %s", n.process.stderr.String())
	}
	return s
}

// share is the part of a core that was used up to a later sample.
func (s sample) share(later sample) float64 {
	return (later.cpu - s.cpu).Seconds() / later.at.Sub(s.at).Seconds()
}

// ticksPerSecond is what Linux counts processor time in, for programs.
const ticksPerSecond = 100

// sampleOf reads what a process uses; ok is false when it has ended.
func sampleOf(pid int) (s sample, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 22 || fields[0] == "Z" {
		return s, false
	}
	ticks := 0
	for _, field := range fields[11:13] { // user and system time
		n, err := strconv.Atoi(field)
		if err != nil {
			return s, false
		}
		ticks += n
	}
	pages, err := strconv.Atoi(fields[21])
	if err != nil {
		return s, false
	}
	return sample{at: time.Now(), cpu: time.Duration(ticks) * time.Second / ticksPerSecond, mb: float64(pages*os.Getpagesize()) / 1e6}, true
}

// firstBan is when the node first said that it broke with somebody.
func (n *companyNode) firstBan() (at time.Time, ok bool) {
	for line := range strings.Lines(n.process.stderr.String()) {
		var entry struct {
			Msg, Ts, Time string
		}
		if json.Unmarshal([]byte(line), &entry) != nil || !strings.Contains(entry.Msg, "disconnected for misbehaviour") && !strings.Contains(entry.Msg, "banned") {
			continue
		}
		for _, text := range []string{entry.Ts, entry.Time} {
			for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.000Z0700"} {
				if at, err := time.Parse(layout, text); err == nil {
					return at, true
				}
			}
		}
	}
	return at, false
}

// delivered is the part of the honest shares that came to each other node soon enough.
// They count from when all nodes run under the attack and should have met.
func (c *company) delivered(from time.Time) float64 {
	came, all := 0, 0
	for _, sender := range c.nodes {
		for _, receiver := range c.nodes {
			if sender == receiver {
				continue
			}
			got := receiver.received(sender.id)
			for _, sent := range sender.process.of("share_sent") {
				if sent.Kind == presence.Kind || sent.at.Before(from) {
					continue
				}
				due := sent.at.Add(soonDelivered)
				arrived := slices.ContainsFunc(got, func(e event) bool {
					return e.Kind == sent.Kind && e.Stamp == sent.Stamp && e.at.Before(due)
				})
				switch {
				case arrived:
					came, all = came+1, all+1
				case due.Before(receiver.until):
					all++
				}
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(came) / float64(all)
}

func (n *companyNode) received(from peer.ID) []event {
	return slices.DeleteFunc(n.process.of("share_received"), func(e event) bool { return e.Peer != from.String() })
}

// released is the part of the planned private shares that came to each other node.
func (c *company) released() float64 {
	came, all := 0, 0
	for _, sender := range c.nodes {
		for _, receiver := range c.nodes {
			if sender == receiver {
				continue
			}
			all += c.row.planned
			stamps := map[string]bool{}
			for _, e := range receiver.received(sender.id) {
				if e.Kind == "weights" {
					stamps[e.Stamp.String()] = true
				}
			}
			came += min(c.row.planned, len(stamps))
		}
	}
	return float64(came) / float64(all)
}

// summed is the part of the planned sums that the nodes know which run.
func (c *company) summed() float64 {
	known, all := 0, 0
	for _, n := range c.nodes {
		if n.hasEnded() {
			continue
		}
		all += c.row.planned
		known += min(c.row.planned, (&fleetNode{dir: n.dir}).sums(c.t).Known)
	}
	if all == 0 {
		return 0
	}
	return float64(known) / float64(all)
}
