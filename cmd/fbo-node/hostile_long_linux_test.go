//go:build linux && long

package main_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/adversary"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
)

// Limits on what nodes use and lose during an attack.
const (
	maxCompanyMB   = 150  // and what the task needs beyond that of the first row
	maxCompanyCore = 0.25 // of a core, beyond what a node needs without the attack
	minCompanyPart = 0.95 // of the honest shares
	longestStop    = 5 * time.Second
	maxThirdParty  = 20 // connections to a host that is not a member, from three nodes in 30 s
	soonDelivered  = 5 * time.Second
	timeToMeet     = 2 * time.Second // for nodes that start under the attack
)

const companyTask = bowlTask

const largeTask = `name: large
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 4096}
strategy: {type: fts}
`

const exactTask = `name: exact
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 64}
strategy: {share: exact}
`

const noisyTask = `name: noisy
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 16}
strategy: {type: fts, initial_designs: 2}
privacy: {mechanism: local, epsilon: 4, releases: 4}
`

const summedTask = `name: summed
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 16}
strategy: {type: fts-de, initial_designs: 2}
privacy: {mechanism: aggregate, epsilon: 8, releases: 2, min_contributors: 3, committee: 3, max_colluding: 1, roster: [ROSTER]}
`

// companyRow is a line of the table: an attack, and on whom.
type companyRow struct {
	name, attack string

	task    string        // companyTask where empty
	scale   float64       // of the objective, 1 where 0
	pace    float64       // evaluations a second of the third node, 1.5 where 0
	planned int           // how many private shares or sums each node should have part in
	sums    bool          // planned counts sums
	waits   time.Duration // for so long nodes may keep what they planned

	late   int  // how many nodes start once the attack is under way
	leaves bool // the first node, the only one that the others know, ends half-way
	middle bool // the second and third node reach each other by the first only
	hub    bool // the nodes know a hub and nothing else, and it alone is attacked
	ranges bool // the attackers' addresses are in sixty ranges
	beside bool // the third node is behind the attackers' address
	brief  bool // it is played also where nobody says for how long

	counted string // what attackers count that has a bound, and which
	most    func(lasts time.Duration) float64
}

// apart tells whether the row is about addresses: on loopback it would say nothing.
func (r companyRow) apart() bool {
	return r.ranges || r.beside || r.hub || r.leaves || r.middle
}

func companyRows() []companyRow {
	return []companyRow{
		{name: "none", attack: "nothing", brief: true},
		{name: "subscriptions to made-up topics", attack: "made-up topics", brief: true},
		{name: "1,024 made-up authors by one connection before a node comes", attack: "1,024 made-up authors by one connection", late: 1, brief: true},
		{name: "60 identities of one range around newcomers", attack: "60 identities around newcomers", late: 2, leaves: true},
		{name: "60 identities of 60 ranges around newcomers", attack: "60 identities around newcomers", late: 2, leaves: true, ranges: true, brief: true},
		{
			name: "records with another peer's address", attack: "another peer's address in signed records", brief: true,
			counted: adversary.ThirdParty, most: func(lasts time.Duration) float64 { return maxThirdParty * max(1, lasts.Seconds()/30) },
		},
		{name: "sync streams held by 50 identities", attack: "sync streams held by 50 identities", brief: true},
		{name: "sync streams filled by 50 identities", attack: "sync streams filled by 50 identities"},
		{name: "streams opened as fast as possible", attack: "streams opened as fast as possible"},
		{name: "membership changed 1,000 times a second", attack: "coming and going 1,000 times a second"},
		{
			name: "a ban washed out by made-up authors", attack: "a ban washed out by made-up authors",
			counted: adversary.LetIn, most: func(time.Duration) float64 { return 3 }, // once by each node
		},
		{name: "520 identities first at the hub", attack: "520 identities at the hub", hub: true, late: 3},
		{name: "520 identities of 60 ranges first at the hub, that do not answer", attack: "520 identities at the hub that do not answer", hub: true, late: 3, ranges: true},
		{name: "private sums, 32 direct streams that dribble", attack: "direct streams that dribble", task: summedTask, planned: 1, sums: true, late: 3, brief: true},
		{name: "private shares, ten ghosts", attack: "ten ghosts", task: noisyTask, pace: 2.6, planned: 4, waits: ledger.Patience, late: 3},
		{name: "large shares, 1,101 in sync answers", attack: "1,101 large shares in sync answers", task: largeTask, pace: 0.7},
		{name: "a mean of level 1e100 among values of 1e-208", attack: "a mean of level 1e100", brief: true, task: exactTask, scale: 1e-208},
		{name: "copies by a relayer over its budget", attack: "copies by a relayer over its budget", middle: true},
		{name: "10,000 bad messages a second", attack: "10,000 bad messages a second"},
		{name: "the same from the address of an honest node", attack: "10,000 bad messages a second", beside: true},
	}
}

// notYet are rows that miss a bound, the first two on a busy machine only, and how. They are
// shown as missed.
var notYet = map[string]string{
	"a ban washed out by made-up authors": "a tenth of the honest shares comes late, and so does the ban",
	"large shares, 1,101 in sync answers": "memory of up to 400 MB, of which fits hold up to 175 MB for a moment",

	"a mean of level 1e100 among values of 1e-208": "what a node needs itself grows with its observations, and is measured at the start",
}

// companyResult is a filled line.
type companyResult struct {
	row        companyRow
	mb, core   float64 // the most of a node
	goroutines int
	delivered  float64
	stopped    time.Duration
	ended      bool
	banned     time.Duration
	wasBanned  bool
	counts     map[string]int
	missed     []string
}

// Three nodes tune while others do what they can against it. How long each attack lasts
// is said by the variable FBO_HOSTILE_FOR, such as 5m; with FBO_HOSTILE_CONTROL=1 the
// attackers do nothing, which shows what the rows come to by themselves. Without the
// first some last seven seconds each, and of processors and late shares little is asked.
func TestLongHostileCompany(t *testing.T) {
	lasts := 7 * time.Second
	if text := os.Getenv("FBO_HOSTILE_FOR"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	var h *hosts
	if _, err := exec.LookPath("ip"); err == nil && os.Geteuid() == 0 {
		h = newHosts(t, 5)
		h.giveAttackersAddresses()
	} else {
		t.Log("without root and the command ip all are on one address, which no limit of addresses holds for")
	}
	var results []companyResult
	usual, usualMB := 0.0, 0.0
	short := os.Getenv("FBO_HOSTILE_FOR") == ""
	for _, row := range companyRows() {
		if short && !row.brief {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			if row.apart() && h == nil {
				t.Skip("needs addresses for the attackers, which need root and ip (iproute2)")
			}
			if os.Getenv("FBO_HOSTILE_CONTROL") == "1" {
				row.attack = "nothing"
			}
			c := &company{t: t, hosts: h, row: row, lasts: lasts, short: short, usual: usual, usualMB: usualMB}
			result := c.play()
			if len(results) == 0 {
				usual, usualMB = result.core, result.mb
				result.core = 0
			}
			c.judge(&result)
			results = append(results, result)
			t.Log(result.line())
		})
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%s per attack; a node used %.2f of a core without one\n\n", lasts, usual)
	table.WriteString("| attack | MB | of a core | goroutines | delivered | stops within | ends by itself | banned after | what attackers did | held |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		table.WriteString(r.line() + "\n")
	}
	t.Log(table.String())
}

func (r companyResult) line() string {
	banned, ended, held := "never", "no", "yes"
	if r.wasBanned {
		banned = fmt.Sprintf("%.1f s", r.banned.Seconds())
	}
	if r.ended {
		ended = "yes"
	}
	if len(r.missed) > 0 {
		held = "missed: " + strings.Join(r.missed, ", ")
	}
	var did []string
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		did = append(did, fmt.Sprintf("%d %s", r.counts[what], what))
	}
	return fmt.Sprintf("| %s | %.0f | %.2f | %d | %.0f %% | %.1f s | %s | %s | %s | %s |",
		r.row.name, r.mb, r.core, r.goroutines, 100*r.delivered, r.stopped.Seconds(), ended, banned, strings.Join(did, ", "), held)
}

// judge says which bounds are missed; rows that notYet knows may.
func (c *company) judge(r *companyResult) {
	miss := func(missed bool, what string) {
		if missed {
			r.missed = append(r.missed, what)
		}
	}
	miss(r.mb > maxCompanyMB+max(0, c.quietMB-c.usualMB), "memory")
	// A few seconds beside other checks measure neither processors nor the last shares.
	if c.short {
		miss(r.delivered < minCompanyPart/2, "shares")
	} else {
		miss(r.core > maxCompanyCore, "processor")
		miss(r.delivered < minCompanyPart && c.lasts > c.row.waits, "shares")
		miss(!r.ended, "end")
	}
	miss(r.stopped > longestStop, "stop")
	miss(c.row.most != nil && float64(r.counts[c.row.counted]) > c.row.most(c.lasts), c.row.counted)
	why, known := notYet[c.row.name]
	switch {
	case len(r.missed) > 0 && !known:
		c.t.Errorf("missed: %v", r.missed)
	case len(r.missed) > 0:
		c.t.Logf("missed: %v (%s)", r.missed, why)
	case known:
		c.t.Logf("held, though notYet says: %s", why)
	}
}
