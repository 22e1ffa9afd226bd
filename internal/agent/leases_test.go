package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

var someClaim = Claim{Client: "worker 1", Lease: time.Minute}

// askFor returns the answer, which must come at once.
func (d *driver) askFor(c Claim) strategy.Trial {
	d.t.Helper()
	d.requests++
	if err := d.agent.AskFor(d.now, d.requests, c); err != nil {
		d.t.Fatal(err)
	}
	d.carryOut()
	answer := d.answers[len(d.answers)-1]
	if answer.Request != d.requests || answer.Err != nil {
		d.t.Fatalf("asked %d, the last answer is %+v", d.requests, answer)
	}
	return answer.Trial
}

func TestAClaimedTrialSurvivesStopsAndCrashes(t *testing.T) {
	d := newBowl(t)
	claimed, own := d.askFor(someClaim), d.ask()
	if claimed.Client != someClaim.Client || own.Client != "" {
		t.Fatalf("claimed %+v, own %+v", claimed, own)
	}
	for range 5 {
		d.start() // a crash
		d.pass(59 * time.Second)
		d.agent.Stop(d.now)
		d.carryOut()
		d.start()
		d.pass(59 * time.Second)
		held := d.agent.HeldBy(d.now, someClaim.Client)
		if len(held) != 1 || held[0].ID != claimed.ID || held[0].Attempts != 1 {
			t.Fatalf("after a crash and a stop the client holds %+v", held)
		}
	}
	if again := d.ask(); again.ID != own.ID {
		t.Errorf("the trial of this process is not offered again: %+v", again)
	}
	d.tell(claimed.ID, 1)
	if got := d.agent.Trials()[claimed.ID-1]; got.State != strategy.Done || got.Client != someClaim.Client || len(d.agent.Leases()) != 0 {
		t.Errorf("after the outcome: %+v, leases %v", got, d.agent.Leases())
	}
}

func TestEndLeasesOffersTrialsAgain(t *testing.T) {
	d := newBowl(t)
	held := d.askFor(someClaim)
	for range 2 { // three attempts at most
		d.agent.EndLeases(d.now)
		if got := d.agent.Trials()[held.ID-1]; got.State != strategy.Waiting {
			t.Fatalf("after the end of the leases: %+v", got)
		}
		if again := d.askFor(someClaim); again.ID != held.ID {
			t.Fatalf("the next client gets %+v", again)
		}
	}
	d.agent.EndLeases(d.now)
	if got := d.agent.Trials()[held.ID-1]; got.State != strategy.Failed {
		t.Errorf("after the third end: %+v", got)
	}
}

func TestAnEndedLeaseGivesTheTrialToAnotherClient(t *testing.T) {
	d := newBowl(t)
	first := d.askFor(someClaim)
	d.pass(59 * time.Second)
	if end, err := d.agent.Heartbeat(d.now, first.ID, someClaim.Client); err != nil || !end.Equal(d.now.Add(time.Minute)) {
		t.Fatalf("heartbeat: %v, %v", end, err)
	}
	d.carryOut()
	d.pass(59 * time.Second)
	if got := d.agent.Trials()[0].State; got != strategy.Running {
		t.Fatalf("within its lease the trial is %s", got)
	}
	for attempt := 2; attempt <= 3; attempt++ {
		d.pass(time.Minute)
		if got := d.agent.Trials()[0]; got.State != strategy.Waiting || got.Client != "" {
			t.Fatalf("after its lease the trial is %+v", got)
		}
		other := Claim{Client: fmt.Sprint("worker ", attempt), Lease: time.Minute}
		if again := d.askFor(other); again.ID != first.ID || again.Attempts != attempt || again.Client != other.Client {
			t.Fatalf("another client gets %+v", again)
		}
		d.start()
	}
	for _, err := range []error{
		d.agent.RequeueBy(d.now, first.ID, someClaim.Client),
		d.agent.FailBy(d.now, first.ID, someClaim.Client, Ending{Reason: "out of memory"}),
		second(d.agent.Heartbeat(d.now, first.ID, someClaim.Client)),
	} {
		if !errors.Is(err, ErrNotHeld) {
			t.Errorf("a client that has lost its lease gets %v", err)
		}
	}
	d.pass(time.Minute)
	if got := d.agent.Trials()[0]; got.State != strategy.Failed || !strings.Contains(got.Reason, "the lease ended 3 times") || !strings.Contains(got.Reason, "worker 3") {
		t.Errorf("after three leases: %+v", got)
	}
}

func second[A any](_ A, err error) error { return err }

// What has been measured is worth knowing, whoever comes first.
func TestAnOutcomeAfterTheLeaseCounts(t *testing.T) {
	d := newBowl(t)
	first := d.askFor(someClaim)
	d.pass(time.Hour)
	d.tell(first.ID, 3)
	if got := d.agent.Trials()[0]; got.State != strategy.Done {
		t.Errorf("the trial is %+v", got)
	}
	if next := d.askFor(someClaim); next.ID == first.ID {
		t.Errorf("a trial that is done is offered again: %+v", next)
	}
}

func TestClientsReturnAndFail(t *testing.T) {
	d := newBowl(t)
	first := d.askFor(someClaim)
	if err := d.agent.RequeueBy(d.now, first.ID, "another"); !errors.Is(err, ErrNotHeld) {
		t.Errorf("another client's return: %v", err)
	}
	for range 2 { // the answer to the first was lost
		if err := d.agent.RequeueBy(d.now, first.ID, someClaim.Client); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	if again := d.askFor(someClaim); again.ID != first.ID || again.Attempts != 1 {
		t.Fatalf("after the return: %+v", again)
	}
	for range 2 {
		if err := d.agent.FailBy(d.now, first.ID, someClaim.Client, Ending{Reason: "no memory"}); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	if err := d.agent.FailBy(d.now, 99, someClaim.Client, Ending{Reason: "x"}); !errors.Is(err, ErrUnknownTrial) {
		t.Errorf("an unknown trial: %v", err)
	}
	if err := d.agent.RequeueBy(d.now, first.ID, someClaim.Client); !errors.Is(err, ErrFinished) {
		t.Errorf("a failed trial: %v", err)
	}
}

func TestClaimsAreChecked(t *testing.T) {
	d := newBowl(t)
	for _, c := range []Claim{
		{}, {Client: "a"}, {Client: "a", Lease: -1}, {Lease: time.Second}, {Client: " a", Lease: 1}, {Client: "a ", Lease: 1},
		{Client: "a\nb", Lease: 1}, {Client: "\xff", Lease: 1}, {Client: strings.Repeat("a", MaxClient+1), Lease: 1},
	} {
		if err := d.agent.AskFor(d.now, 1, c); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	d.carryOut()
	if len(d.agent.Trials()) > 0 {
		t.Error("a trial was made")
	}
}

// A claim whose request is withdrawn or refused is forgotten.
func TestWithdrawnClaims(t *testing.T) {
	d := newBowl(t)
	d.hold = true
	if err := d.agent.AskFor(d.now, 77, someClaim); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	d.agent.Cancel(77)
	d.agent.Keep(d.now)
	if err := d.agent.AskFor(d.now, 78, someClaim); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if len(d.agent.claims) != 0 {
		t.Errorf("left are %v", d.agent.claims)
	}
}
