//go:build unix

package node_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// victimDir in the environment makes the test binary play the node that is
// killed; victimLimit bounds the size of its files, in bytes.
const (
	victimDir   = "FBO_TEST_VICTIM_DIR"
	victimLimit = "FBO_TEST_VICTIM_LIMIT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		if err := playVictim(dir, os.Getenv(victimLimit)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	_ = flag.Set("test.parallel", "6") // most tests wait for connections and timers
	os.Exit(m.Run())
}

const victimTask = `
name: victim
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
surrogate: {type: rff, features: 16}
strategy: {type: fts, initial_designs: 1}
`

// victimText is the victim's task, or the one that continues it with a wider bound.
func victimText(continues bool) string {
	former, err := all.Strategies().Parse("victim", []byte(victimTask))
	if err != nil || !continues {
		return victimTask
	}
	return strings.Replace(victimTask, "high: 1", "high: 2", 1) + "continues: " + former.ID().String() + "\n"
}

// playVictim evaluates as fast as it can and writes one line for each value that
// was acknowledged and each share that was sent, after the fact.
func playVictim(dir, limit string) error {
	if limit != "" {
		var bytes uint64
		if _, err := fmt.Sscan(limit, &bytes); err != nil {
			return err
		}
		signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit is an error then
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
			return err
		}
	}
	t, err := all.Strategies().Parse("victim", []byte(victimText(os.Getenv(victimContinues) != "")))
	if err != nil {
		return err
	}
	ctx := context.Background()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(ctx); err != nil {
		return err
	}
	session, err := n.Join(ctx, t, node.JoinOptions{OnEvent: func(e agent.Event) {
		if e.Type == agent.ShareSent {
			fmt.Printf("sent %d %d\n", e.Stamp.Epoch, e.Stamp.Sequence)
		}
	}})
	if err != nil {
		return err
	}
	fmt.Println("runs")
	for {
		trial, err := session.Ask(ctx)
		if err != nil {
			return err
		}
		value := trial.Design.Float("x")
		of := strategy.Annotations{Attributes: map[string]string{"value": fmt.Sprint(value)}, Files: []strategy.File{{Path: fmt.Sprint(value)}}}
		if err := session.TellOutcome(ctx, trial.ID, strategy.Outcome{Value: value, Annotations: of}); err != nil {
			return err
		}
		fmt.Printf("told %d %v\n", trial.ID, value)
		for i := range 2 {
			note := strategy.Note{Text: fmt.Sprint(i)}
			if err := session.Annotate(ctx, trial.ID, strategy.AnnotationChange{Notes: []strategy.Note{note}}); err != nil {
				return err
			}
			fmt.Printf("noted %d %d\n", trial.ID, i)
		}
	}
}

// ledger is what a victim has acknowledged in all its lives.
type ledger struct {
	t      *testing.T
	dir    string
	sentTo map[uint64]float64
	sent   map[[2]uint64]bool
	noted  map[uint64]int // number of acknowledged notes, by trial
	lives  int
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, dir: t.TempDir(), sentTo: map[uint64]float64{}, sent: map[[2]uint64]bool{}, noted: map[uint64]int{}}
}

// live starts the victim, tells kill of each line that it says from its start on, and
// takes them down. It returns its last words.
func (l *ledger) live(limit int, kill func(p *os.Process, line string)) (last string) {
	l.t.Helper()
	l.lives++
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimDir+"="+l.dir, "GORACE=atexit_sleep_ms=0")
	if limit > 0 {
		victim.Env = append(victim.Env, fmt.Sprintf("%s=%d", victimLimit, limit))
	}
	victim.Stderr = os.Stderr
	out, err := victim.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		l.t.Fatal(err)
	}
	slow := time.AfterFunc(patience, func() { _ = victim.Process.Kill() })
	defer slow.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		last = lines.Text()
		l.note(last)
		kill(victim.Process, last)
	}
	_ = victim.Wait() // killed, or ended with what it said last
	return last
}

func (l *ledger) note(line string) {
	l.t.Helper()
	var id, epoch, sequence uint64
	var value float64
	if n, _ := fmt.Sscanf(line, "told %d %g", &id, &value); n == 2 {
		l.sentTo[id] = value
	} else if n, _ := fmt.Sscanf(line, "noted %d %d", &id, &epoch); n == 2 {
		l.noted[id]++
	} else if n, _ := fmt.Sscanf(line, "sent %d %d", &epoch, &sequence); n == 2 {
		stamp := [2]uint64{epoch, sequence}
		if l.sent[stamp] {
			l.t.Errorf("life %d: stamp %v was used before", l.lives, stamp)
		}
		l.sent[stamp] = true
	}
}

// check reads the journal and compares.
func (l *ledger) check() {
	l.t.Helper()
	archive, err := store.OpenArchive(l.dir)
	if err != nil {
		l.t.Fatal(err)
	}
	defer archive.Close()
	history, err := archive.History(parse(l.t, victimTask).ID().String(), all.Strategies())
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was killed before it began
		l.t.Fatal(err)
	}
	kept := map[uint64]strategy.Trial{}
	for _, trial := range history.Trials {
		kept[trial.ID] = trial
	}
	for id, value := range l.sentTo {
		if trial := kept[id]; trial.State != strategy.Done || trial.Outcome.Value != value {
			l.t.Errorf("trial %d with value %v was acknowledged; the journal has it %s", id, value, trial.State)
		}
		if want := fmt.Sprint(value); kept[id].Attributes["value"] != want || len(kept[id].Files) != 1 || kept[id].Files[0].Path != want {
			l.t.Errorf("trial %d was acknowledged with annotations; the journal has %+v", id, kept[id].Annotations)
		}
	}
	for id, count := range l.noted {
		if notes := kept[id].Notes; len(notes) < count || notes[0].Text != "0" || count > 1 && notes[1].Text != "1" {
			l.t.Errorf("%d notes of trial %d were acknowledged; the journal has %+v", count, id, notes)
		}
	}
}

func TestKilledAtAnyMoment(t *testing.T) { testKill(t, 25) }

// A node is killed again and again while it works, so many times at least and until
// enough has happened: soon after one of its first lines, however long it takes to come
// to that. It must not have lost an acknowledged value, nor used a stamp twice.
func testKill(t *testing.T, lives int) {
	l := newLedger(t)
	rng := rand.New(rand.NewPCG(1, 2))
	enough := func() bool { return len(l.sentTo) >= lives && len(l.sent) >= lives }
	for l.lives < lives || !enough() && l.lives < 10*lives {
		left, pause := 1+rng.IntN(8), time.Duration(rng.ExpFloat64()*float64(10*time.Millisecond))
		l.live(0, func(p *os.Process, _ string) {
			if left--; left == 0 {
				time.AfterFunc(pause, func() { _ = p.Kill() })
			}
		})
		l.check()
	}
	t.Logf("%d values and %d shares in %d lives", len(l.sentTo), len(l.sent), l.lives)
	if !enough() {
		t.Error("too little happened to be a test")
	}
}

// A disk that is full stops the node with a clear error; nothing acknowledged
// is lost, and with room again it goes on.
func TestFullDisk(t *testing.T) {
	l := newLedger(t)
	last := l.live(96<<10, func(*os.Process, string) {}) // it ends by itself
	if !strings.Contains(last, "journal cannot be written") || !strings.Contains(last, "nothing acknowledged is lost") {
		t.Errorf("last words: %q", last)
	}
	before := len(l.sentTo)
	if before == 0 {
		t.Error("nothing was told before the disk was full")
	}
	l.check()
	l.live(0, func(p *os.Process, line string) {
		if strings.HasPrefix(line, "told ") {
			_ = p.Kill()
		}
	})
	l.check()
	if len(l.sentTo) <= before {
		t.Error("with room again it did not go on")
	}
	t.Logf("%d values before the disk was full, %d after", before, len(l.sentTo)-before)
}
