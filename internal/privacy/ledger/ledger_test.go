package ledger

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/task"
)

func parse(t testing.TB, privacy string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("task", fmt.Appendf(nil, `
name: secret
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 16}
strategy: {type: fts}
privacy: {mechanism: local, %s}`, privacy), strategies())
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// entropy is repeatable, as it must never be outside of tests.
func entropy(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func open(t testing.TB, privacy string) *Ledger {
	t.Helper()
	l, err := NewLedger(parse(t, privacy), entropy(1))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const terms = "epsilon: 4, releases: 3"

func weights(value float64) []float64 {
	w := make([]float64, 16)
	for i := range w {
		w[i] = value
	}
	return w
}

// The noise is what privacy.Plan says, neither more nor less: at the planned
// releases ε is met, with a hundredth less noise it would not be.
func TestTermsKeepThePromise(t *testing.T) {
	for _, adjacency := range []string{"replace-one", "zero-out"} {
		terms, err := NewTerms(parse(t, terms+", adjacency: "+adjacency))
		if err != nil {
			t.Fatal(err)
		}
		spent, err := terms.Spent(3)
		if err != nil || spent > 4 || spent < 3.99 {
			t.Errorf("%s: ε is %g, %v", adjacency, spent, err)
		}
		if one, err := terms.Spent(1); err != nil || !(one > 0 && one < spent) {
			t.Errorf("%s: ε of one release is %g of %g, %v", adjacency, one, spent, err)
		}
		if none, err := terms.Spent(0); err != nil || none != 0 {
			t.Errorf("%s: ε of no release is %g, %v", adjacency, none, err)
		}
	}
	one, _ := NewTerms(parse(t, terms))
	zero, _ := NewTerms(parse(t, terms+", adjacency: zero-out"))
	if ratio := one.Sigma / zero.Sigma; math.Abs(ratio-2) > 1e-3 {
		t.Errorf("replace-one has %g times the noise of zero-out, want 2", ratio)
	}
}

// 3 releases of 16 weights: the noise's deviation is within 40 % of what is
// stated, which chance exceeds less than once in 10,000 draws of the source.
func TestReleaseClipsAndAddsNoise(t *testing.T) {
	l := open(t, terms+", clip: 2")
	sum, count := 0.0, 0
	for number := 1; number <= 3; number++ {
		noisy, release, record, err := l.Release(weights(1e6))
		if err != nil || release != number || !bytes.Contains(record, fmt.Appendf(nil, `"release":%d`, number)) {
			t.Fatalf("release %d, record %s, %v", release, record, err)
		}
		for _, v := range noisy {
			sum += (v - 0.5) * (v - 0.5) // clipped to norm 2, each of 16 weights is .5
			count++
		}
	}
	if deviation := math.Sqrt(sum / float64(count)); math.Abs(deviation/l.Sigma-1) > 0.4 {
		t.Errorf("the noise has deviation %g, stated is %g", deviation, l.Sigma)
	}
	if _, _, _, err := l.Release(weights(0)); err == nil || l.Open() {
		t.Error("a fourth release of three")
	}
}

func TestNoTwoReleasesShareNoise(t *testing.T) {
	l := open(t, terms)
	first, _, _, _ := l.Release(weights(0))
	second, _, _, _ := l.Release(weights(0))
	for i := range first {
		if first[i] == second[i] {
			t.Fatalf("weight %d is %g twice", i, first[i])
		}
	}
}

// To fall silent would tell that the weights were not finite.
func TestWeightsThatAreNotFiniteAreReleasedAsNoise(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		noisy, _, record, err := open(t, terms).Release(weights(bad))
		if err != nil || record == nil {
			t.Fatal(err)
		}
		for _, v := range noisy {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("released %v", noisy)
			}
		}
	}
}

func TestAFailedSourceReleasesNothing(t *testing.T) {
	l, err := NewLedger(parse(t, terms), strings.NewReader("too few"))
	if err != nil {
		t.Fatal(err)
	}
	noisy, _, record, err := l.Release(weights(1))
	if err == nil || noisy != nil || record != nil || l.State().Released != 0 {
		t.Errorf("released %v, record %s, %v; state %+v", noisy, record, err, l.State())
	}
	if _, err := NewLedger(parse(t, terms), nil); err == nil {
		t.Error("an account without a source of noise")
	}
	if _, _, _, err := open(t, terms).Release(make([]float64, 3)); err == nil {
		t.Error("weights of another length")
	}
}

func TestReplayRestoresWhatWasSpent(t *testing.T) {
	first := open(t, terms)
	var records [][]byte
	for range 2 {
		_, _, record, err := first.Release(weights(0))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	second := open(t, terms)
	for _, record := range records {
		second.Replay(record)
	}
	if second.State() != first.State() {
		t.Errorf("replayed %+v, want %+v", second.State(), first.State())
	}
	if _, number, _, err := second.Release(weights(0)); err != nil || number != 3 {
		t.Errorf("the next release is %d, %v", number, err)
	}
	for _, broken := range []string{"", "{", "{}", "sent", `{"release":0}`} {
		l := open(t, terms)
		l.Replay([]byte(broken))
		if l.Open() {
			t.Errorf("after the record %q releases go on", broken)
		}
	}
}

func TestARestoredJournalEndsReleases(t *testing.T) {
	l := open(t, terms)
	if _, _, _, err := l.Release(weights(0)); err != nil {
		t.Fatal(err)
	}
	if record, _ := l.Echo(1); record != nil || !l.Open() {
		t.Error("a release that the journal knows is no news")
	}
	record, reason := l.Echo(2)
	if record == nil || l.Open() || !strings.Contains(reason, "release 2") {
		t.Fatalf("record %s, reason %q", record, reason)
	}
	if again, _ := l.Echo(2); again != nil {
		t.Error("refused twice")
	}
	more, none := l.Echo(3)
	if more == nil || none != "" || l.State().Released != 3 {
		t.Errorf("a further release is recorded and not told: record %s, reason %q, state %+v", more, none, l.State())
	}
	restarted := open(t, terms)
	restarted.Replay(record)
	if restarted.Open() || !strings.HasPrefix(reason, restarted.State().Refused+"; 2 releases known to be made, ε = ") || restarted.State().Released != 2 {
		t.Errorf("after a restart: %+v, told was %q", restarted.State(), reason)
	}
	if restarted.Replay(more); restarted.State() != l.State() {
		t.Errorf("after the second record: %+v, want %+v", restarted.State(), l.State())
	}
}

func TestMoreThanHalfMustHaveTold(t *testing.T) {
	ids := func(count int) []peer.ID {
		var all []peer.ID
		for i := range count {
			all = append(all, peer.ID(fmt.Sprint(i)))
		}
		return all
	}
	for _, c := range []struct {
		present, reported int
		want              bool
	}{{1, 0, false}, {2, 0, false}, {2, 1, true}, {3, 1, false}, {3, 2, true}, {4, 2, true}, {5, 2, false}, {5, 3, true}} {
		l := open(t, terms)
		for _, id := range ids(c.reported + 1)[1:] {
			l.CaughtUp(id)
			l.CaughtUp(id)
		}
		l.CaughtUp("one that is not present")
		if got := l.Trusted(ids(c.present)); got != c.want {
			t.Errorf("%d present, %d of the others have sent all shares: %v", c.present, c.reported, got)
		}
	}
}

func TestPromisesThatCannotBeKept(t *testing.T) {
	_, err := NewTerms(parse(t, "epsilon: 0.01, delta: 1e-12, releases: 1000"))
	if err == nil || !strings.Contains(err.Error(), "raise epsilon or plan fewer releases") {
		t.Errorf("the error is %v", err)
	}
}

// Those who are silent hold releases up for five minutes, however many they are and
// although others like them come all the time; then one who has told is enough, until more
// than half have told again. Each change is said once.
func TestSilentPeersAreNotWaitedForLong(t *testing.T) {
	l := open(t, terms)
	present := func(beat int) []peer.ID {
		all := []peer.ID{"self", "honest"}
		for i := range 10 {
			all = append(all, peer.ID(fmt.Sprint("ghost ", i, " of ", beat/4)))
		}
		return all
	}
	said := map[int]string{}
	for beat := range 30 {
		if beat == 3 {
			l.CaughtUp("honest")
		}
		if change := l.Count(present(beat)); change != "" {
			said[beat] = change
		}
		if got, want := l.Trusted(present(beat)), beat >= int(Patience/Beat)-1; got != want {
			t.Fatalf("beat %d: trusted %v", beat, got)
		}
	}
	if len(said) != 1 || !strings.Contains(said[9], "no longer wait for 10 of 11 other nodes present: in 5 minutes they have not reported") {
		t.Errorf("said %v", said)
	}
	if l.Trusted([]peer.ID{"self", "ghost"}) {
		t.Error("trusted although nobody present has told anything")
	}
	for i := range 5 {
		l.CaughtUp(peer.ID(fmt.Sprint("ghost ", i, " of 9")))
	}
	if change := l.Count(present(36)); !strings.Contains(change, "wait again") || l.Count(present(36)) != "" {
		t.Errorf("said %q", change)
	}
	if l.Trusted(append(present(36), "new", "newer", "newest")) {
		t.Error("those who come later are not waited for")
	}
}

// A node alone does not lose patience with nobody, and nobody who has told nothing is enough.
func TestAloneThereIsNobodyToWaitFor(t *testing.T) {
	l := open(t, terms)
	for range 20 {
		if change := l.Count([]peer.ID{"self"}) + l.Count(nil); change != "" {
			t.Fatal(change)
		}
	}
	for range 20 {
		if change := l.Count([]peer.ID{"self", "ghost"}); change != "" || l.Trusted([]peer.ID{"self", "ghost"}) {
			t.Fatalf("said %q", change)
		}
	}
}
