package fleet

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/fbotest/crowdtest"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
)

// sizes returns the sizes of messages on the task.
func sizes(t testing.TB) Sizes {
	t.Helper()
	payload, err := protocol.Weights{Observations: 5, Values: make([]float64, 16)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s, err := SizesOf(crowdtest.Task(t), "weights", payload)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runs carries out a scenario, and returns the state at the end.
func runs(t testing.TB, s Scenario, change ...func(*fleet)) (*fleet, Result) {
	t.Helper()
	if s.Message == (Sizes{}) {
		s.Message = sizes(t)
	}
	f, err := newFleet(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(f)
	}
	return f, f.run()
}

// faulty is a scenario with all faults.
func faulty(agents int) Scenario {
	return Scenario{
		Agents: agents, Seed: random.SeedOf(1), Starts: 30 * time.Second, From: 2 * time.Minute, Till: 6 * time.Minute, ShareEvery: time.Minute,
		Newcomers: 10, Churn: 2, Hostile: 0.2, Split: Span{3 * time.Minute, 4 * time.Minute},
	}
}

// testCrowd compares the traffic with that of real agents, which can ask every author itself.
func testCrowd(t *testing.T, members, above, authors, from, until int) {
	_, got := runs(t, Scenario{
		Agents: members, Seed: random.SeedOf(1), Starts: crowdtest.Starts, ShareEvery: time.Minute,
		From: crowdtest.Starts + time.Duration(from)*time.Minute, Till: crowdtest.Starts + time.Duration(until)*time.Minute,
	}, func(f *fleet) { f.limits, f.direct = agent.LargeTopic{Above: above, Authors: authors}, true })
	real := crowdtest.PerMinute(t, members, authors, from, until)
	for _, c := range []struct {
		name       string
		have, want float64
	}{
		{"messages", got.Messages, real.Messages},
		{"bytes of gossip", got.Gossip, real.Gossiped},
		{"bytes of fetches", got.Fetched, real.Fetched},
	} {
		t.Logf("%d agents: %.1f %s per agent and minute, real agents %.1f", members, c.have, c.name, c.want)
		if math.Abs(c.have/c.want-1) > 0.1 {
			t.Errorf("%d agents: %.1f %s per agent and minute, real agents have %.1f; want at most 10 %% of difference", members, c.have, c.name, c.want)
		}
	}
}

// The traffic is that of real agents.
func TestTrafficIsThatOfRealAgents(t *testing.T) { testCrowd(t, 48, 24, 4, 2, 4) }

func TestEqualSeedsHaveEqualResults(t *testing.T) {
	_, first := runs(t, faulty(200))
	_, again := runs(t, faulty(200))
	if !reflect.DeepEqual(first, again) {
		t.Errorf("two runs of a scenario differ:\n%v\n%v", first, again)
	}
	other := faulty(200)
	other.Seed = random.SeedOf(2)
	if _, r := runs(t, other); reflect.DeepEqual(r, first) {
		t.Error("two seeds have equal results")
	}
}

func TestInvariantsUnderFaults(t *testing.T) {
	f, r := runs(t, faulty(250))
	t.Log(r)
	if r.Accepted > r.Sent*int64(len(f.agents)-1) {
		t.Errorf("%d messages have been accepted %d times by %d agents", r.Sent, r.Accepted, len(f.agents))
	}
	if r.Copies < r.Gossip {
		t.Errorf("copies have %.0f bytes, messages %.0f", r.Copies, r.Gossip)
	}
	for id, a := range f.agents {
		if a.gone {
			continue
		}
		for i, p := range a.places {
			author := f.agents[p.Author]
			if has := a.known[i].has; has > f.newest(author) || has > 0 && author.behaviour != honest {
				t.Fatalf("agent %d has share %d of an author that is honest: %v, and has made %d", id, has, author.behaviour == honest, f.newest(author))
			}
			if a.slots[p.Author] != int32(i) {
				t.Fatalf("agent %d has author %d in two places", id, p.Author)
			}
		}
		sum := 0
		for _, size := range a.sizes {
			sum += size
		}
		if sum != len(a.places) || len(a.places) > largetopic.MaxAuthors {
			t.Fatalf("agent %d has groups of %d authors and %d places", id, sum, len(a.places))
		}
		for _, l := range a.links {
			if back := f.agents[l.peer].linkTo(int32(id)); back == nil || back.mesh != l.mesh || f.agents[l.peer].gone {
				t.Fatalf("agent %d has a connection to %d without another end", id, l.peer)
			}
		}
	}
	if r.HostileKnown == 0 || r.HostileChosen >= r.HostileKnown {
		t.Errorf("%.2f of the known and %.2f of the chosen authors are hostile; want fewer among the chosen", r.HostileKnown, r.HostileChosen)
	}
	if !slices.ContainsFunc(f.agents, func(a *agentState) bool { return len(a.banned) > 0 }) {
		t.Error("no agent has banned one that serves garbage")
	}
	if len(r.First) < 10 || r.Without > 0 {
		t.Errorf("%d newcomers got a share and %d did not", len(r.First), r.Without)
	}
}

// Nothing crosses a partition while it lasts.
func TestPartition(t *testing.T) {
	s := faulty(300)
	s.Churn, s.Split = 0, Span{0, s.Till + 1}
	f, _ := runs(t, s)
	knows := 0
	for id, a := range f.agents {
		knows += len(a.places)
		for _, p := range a.places {
			if f.agents[p.Author].second != a.second {
				t.Fatalf("agent %d knows %d of the other half", id, p.Author)
			}
		}
	}
	if knows == 0 {
		t.Error("no agent knows an author")
	}
}

// After a partition the halves know each other again.
func TestPartitionHeals(t *testing.T) {
	s := faulty(200)
	s.Churn, s.Hostile, s.Split, s.From, s.Till = 0, 0, Span{0, 4 * time.Minute}, 7*time.Minute, 8*time.Minute
	if _, r := runs(t, s); r.Known < 195 || r.Delivered < 0.8 {
		t.Errorf("an agent knows %.0f of 199 others and has %.2f of the announced shares three minutes after a partition", r.Known, r.Delivered)
	}
}

// The fast check never refuses a place that Evict finds.
func TestMayDisplaceFindsAllPlaces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := &agentState{met: map[int32]bool{}, groups: map[int32]int32{}}
		groups := rapid.IntRange(1, 5).Draw(r, "groups")
		for g := range groups {
			a.groupOf(int32(g))
		}
		now := began.Add(time.Hour)
		a.quietly = 0
		for i := range rapid.IntRange(1, 30).Draw(r, "authors") {
			p := largetopic.Place[int32]{
				Author: int32(100 + i), Group: int32(rapid.IntRange(0, groups-1).Draw(r, "group")), Size: 1, Met: rapid.Bool().Draw(r, "met"),
				Received: now.Add(-time.Duration(rapid.IntRange(0, 40).Draw(r, "minutes")) * time.Minute).UnixNano(),
			}
			a.places = append(a.places, p)
			a.sizes[p.Group]++
			a.most = max(a.most, a.sizes[p.Group])
		}
		n := largetopic.Newcomer[int32]{Author: 1, Group: int32(rapid.IntRange(0, groups-1).Draw(r, "own")), Grows: 1, Met: rapid.Bool().Draw(r, "newcomer met")}
		may := a.mayDisplace(now.Add(-largetopic.ProtectedTime).UnixNano(), n)
		if _, ok := largetopic.Evict(now, a.places, a.sizes, n, 1, false); ok && !may {
			r.Fatal("there is a place")
		}
	})
}

// The numbers of package peers are those that package node compares with its documentation.
func TestDocumentedNumbers(t *testing.T) {
	text, err := os.ReadFile("../../docs/network.md")
	if err != nil {
		t.Fatal(err)
	}
	wire, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("With fewer than %s active peers", map[int]string{10: "ten"}[minActive]),
		fmt.Sprintf("| %d of a task, of 4 KiB", memberRecords),
		fmt.Sprintf("; %d a second of an author", authorRate),
		fmt.Sprintf("| %d a second for all peers that are not named, 1,000 at once. Each group has %d a second", checkRate, groupRate),
		fmt.Sprintf("With more it dials a member every %.0f s", walkPause.Seconds()),
		fmt.Sprintf("at most %d at once and within the", fetchDials),
		fmt.Sprintf("| ban of a peer | %s violations within ten minutes", map[int]string{3: "three"}[maxViolations]),
	} {
		if !strings.Contains(string(text)+string(wire), want) {
			t.Errorf("the documentation does not contain %q", want)
		}
	}
}
