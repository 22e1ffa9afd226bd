package trialserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const bowl = `name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
surrogate: {type: rff, features: 16}
strategy: {type: ts}
`

const listed = `name: listed
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
designs: {file: designs.csv}
surrogate: {type: rff, features: 16}
strategy: {type: ts}
`

// started is a node that connects to these peers only.
func started(t *testing.T, dir string, peers ...string) *node.Node {
	t.Helper()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Peers: peers}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func open(t *testing.T, n *node.Node) *Server {
	t.Helper()
	d, err := New(n, Options{Strategies: all.Strategies(), Wait: -1, OnWarning: func(text string) { t.Error(text) }})
	if err == nil {
		err = d.Open(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func create(t *testing.T, d *Server, o Order) *Task {
	t.Helper()
	created, _, err := d.Create(t.Context(), o, "")
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func asks(t *testing.T, of *Task, client string, count int, key string) (ids []uint64) {
	t.Helper()
	once := agent.Once{}
	if key != "" {
		once = agent.Once{Key: key, Digest: "ask"}
	}
	asked, err := of.Ask(t.Context(), agent.Claim{Client: client, Lease: time.Hour}, count, once)
	if err != nil || asked.WaitsFor != "" {
		t.Fatal(asked.WaitsFor, err)
	}
	for _, trial := range asked.Trials {
		ids = append(ids, trial.ID)
	}
	return ids
}

func equal(t *testing.T, what string, got []uint64, want ...uint64) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: trials %v, want %v", what, got, want)
	}
}

func TestTasksAndTrialsSurviveRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := started(t, dir)
	d := open(t, n)
	seed := uint64(7)
	first := create(t, d, Order{Text: bowl, Enqueue: []json.RawMessage{[]byte(`{"x":0.5}`)}, Seed: &seed})
	table := create(t, d, Order{Text: listed, Tables: map[string]string{"designs.csv": "x\n-1\n0\n1\n"}})
	left := create(t, d, Order{Text: strings.Replace(bowl, "bowl", "left", 1)})
	if again, created, err := d.Create(t.Context(), Order{Text: bowl}, ""); err != nil || created || again != first {
		t.Errorf("the same task again: %v, created %t, %v", again, created, err)
	}
	equal(t, "two", asks(t, first, "a", 2, "k"), 1, 2)
	equal(t, "the same again", asks(t, first, "a", 2, ""), 1, 2)
	equal(t, "one of them", asks(t, first, "a", 1, ""), 1)
	equal(t, "another client", asks(t, first, "b", 1, ""), 3)
	equal(t, "listed", asks(t, table, "a", 1, ""), 1)
	if err := first.Session().Tell(t.Context(), 1, 4); err != nil {
		t.Fatal(err)
	}
	equal(t, "the key again", asks(t, first, "a", 2, "k"), 1, 2)
	equal(t, "one more", asks(t, first, "a", 2, ""), 2, 4)
	if err := d.Leave(left.ID()); err != nil {
		t.Fatal(err)
	}
	if err := d.Leave(left.ID()); !errors.Is(err, ErrUnknownTask) {
		t.Errorf("left twice: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	d = open(t, started(t, dir))
	if len(d.Tasks()) != 2 {
		t.Fatalf("served after a restart: %d tasks", len(d.Tasks()))
	}
	again, err := d.Task(first.ID())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "after the restart", asks(t, again, "a", 2, ""), 2, 4)
	equal(t, "the key after the restart", asks(t, again, "a", 2, "k"), 1, 2)
	trials, err := again.Session().Trials(t.Context())
	if err != nil || trials[0].Design.Float("x") != 0.5 || trials[0].Why.Source != strategy.Enqueued {
		t.Errorf("the design to evaluate first: %+v, %v", trials[0], err)
	}
	table, err = d.Task(table.ID())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "listed after the restart", asks(t, table, "b", 2, ""), 2, 3)
}

// However many requests of one client there are at once, it holds what it asks for.
func TestOneClientAtOnce(t *testing.T) {
	t.Parallel()
	d := open(t, started(t, t.TempDir()))
	of := create(t, d, Order{Text: bowl})
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() { equal(t, "at once", asks(t, of, "a", 3, ""), 1, 2, 3) })
	}
	asking.Wait()
}

// A client that stops waiting gets no error, perhaps fewer trials, and the reason.
func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d := open(t, started(t, t.TempDir()))
	of := create(t, d, Order{Text: bowl})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	asked, err := of.Ask(ctx, agent.Claim{Client: "a", Lease: time.Hour}, 2, agent.Once{Key: "k"})
	if err != nil || len(asked.Trials) > 0 || asked.WaitsFor == "" {
		t.Errorf("%+v, %v", asked, err)
	}
	equal(t, "the key later", asks(t, of, "a", 2, "k"), 1, 2)
}

// A desk warns once of requests without an answer, and again only after one has got its trial.
func TestADelayIsReportedOnce(t *testing.T) {
	t.Parallel()
	n := started(t, t.TempDir(), started(t, t.TempDir()).Addresses()...) // whose peer may yet join the task
	warned := make(chan string, 10)
	d, err := New(n, Options{Strategies: all.Strategies(), Wait: time.Minute, Patience: time.Nanosecond, OnWarning: func(text string) { warned <- text }})
	if err != nil {
		t.Fatal(err)
	}
	of := create(t, d, Order{Text: "name: bowl\ngoal: minimize\nparameters: [{name: x, type: float, low: -2, high: 2}]\n"})
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			for ctx.Err() == nil { // until the request waits
				if status, err := of.Session().Status(ctx); err == nil && status.WaitsFor != "" {
					return
				}
			}
		}()
		asked, err := of.Ask(ctx, agent.Claim{Client: "a", Lease: time.Hour}, 1, agent.Once{})
		if err != nil || len(asked.Trials) > 0 || asked.WaitsFor != "the first design waits for the shares of peers" {
			t.Errorf("%+v, %v", asked, err)
		}
		cancel()
	}
	close(warned)
	text := <-warned
	if !strings.Contains(text, `task "bowl": a request for trials has no answer`) || !strings.Contains(text, "shares of peers") || len(warned) > 0 {
		t.Errorf("warned %q and %d more", text, len(warned))
	}
}

// Tasks of the last start can be asked for while others are not joined yet.
func TestTasksWhileOthersAreNotJoined(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := started(t, dir)
	first := open(t, n)
	var ids []string
	for i := range 3 {
		ids = append(ids, create(t, first, Order{Text: strings.Replace(bowl, "bowl", fmt.Sprintf("bowl%d", i), 1)}).ID())
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := New(started(t, dir), Options{Strategies: all.Strategies(), Wait: -1, OnWarning: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{ids[0], "bowl1", "unknown"} {
		var starting *StartingError
		if _, err := d.Task(wanted); !errors.As(err, &starting) || *starting != (StartingError{0, 3}) || err.Error() != "starting: 0 of 3" {
			t.Errorf("%s: %v", wanted, err)
		}
	}
	if _, created, err := d.Create(t.Context(), Order{Text: strings.Replace(bowl, "bowl", "bowl1", 1)}, ""); created || err != nil {
		t.Errorf("a task of the last start: created %v, %v", created, err)
	}
	if starting := d.Starting(); starting == nil || *starting != (StartingError{1, 3}) || len(d.Tasks()) != 1 {
		t.Errorf("after one task: %v, %d tasks", starting, len(d.Tasks()))
	}
	equal(t, "the task that is joined", asks(t, d.Tasks()[0], "a", 1, ""), 1)
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Task("unknown"); d.Starting() != nil || len(d.Tasks()) != 3 || !errors.Is(err, ErrUnknownTask) {
		t.Errorf("after the start: %v, %d tasks, %v", d.Starting(), len(d.Tasks()), err)
	}
	equal(t, "the same trial", asks(t, d.Tasks()[slices.IndexFunc(d.Tasks(), func(t *Task) bool { return t.Session().Task().Name == "bowl1" })], "a", 1, ""), 1)
}

func TestCreateRefusesInvalidOrders(t *testing.T) {
	t.Parallel()
	d := open(t, started(t, t.TempDir()))
	d.options.Check = func(t *task.Task) error {
		if t.Name == "refused" {
			return errors.New("not here")
		}
		return nil
	}
	for _, c := range []struct {
		order       Order
		invited     string
		field, want string
	}{
		{Order{}, "", "text", "name"},
		{Order{Text: "name: [", Seed: new(uint64)}, "", "text", "task:1"},
		{Order{Text: listed}, "", "text", "designs.csv"},
		{Order{Text: bowl, Tables: map[string]string{"../x": ""}}, "", "tables", "no name of a file"},
		{Order{Text: bowl, Enqueue: []json.RawMessage{[]byte(`{"x":9}`)}}, "", "enqueue[0]", "number from -2 to 2"},
		{Order{Text: bowl, PriorDesigns: []json.RawMessage{[]byte(`{"x":1}`), []byte(`1`)}}, "", "prior_designs[1]", "JSON object"},
		{Order{Text: bowl}, "nonsense", "invitation", "does not begin with"},
		{Order{Text: strings.Replace(bowl, "bowl", "refused", 1)}, "", "text", "not here"},
	} {
		_, _, err := d.Create(t.Context(), c.order, c.invited)
		var field *FieldError
		if !errors.As(err, &field) || field.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.order, err)
		}
	}
	if len(d.Tasks()) > 0 {
		t.Error("a task is served")
	}
	if ids, err := listServed(d.node.Dir); len(ids) > 0 || err != nil {
		t.Errorf("kept are %v, %v", ids, err)
	}
}

// A file that cannot be read is named, and the other tasks are served.
func TestDamagedOrderFileIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := started(t, dir)
	create(t, open(t, n), Order{Text: bowl})
	if err := os.WriteFile(servedPath(dir, "other"), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	var warned []string
	d, err := New(started(t, dir), Options{Strategies: all.Strategies(), Wait: -1, OnWarning: func(text string) { warned = append(warned, text) }})
	if err == nil {
		err = d.Open(t.Context())
	}
	if err != nil || len(d.Tasks()) != 1 || len(warned) != 1 || !strings.Contains(warned[0], filepath.Join(servedDir, "other.json")) {
		t.Errorf("%v, warned %q", err, warned)
	}
}

func TestAnAdoptedSession(t *testing.T) {
	t.Parallel()
	n := started(t, t.TempDir())
	parsed, err := all.Strategies().Parse("bowl", []byte(bowl))
	if err != nil {
		t.Fatal(err)
	}
	events := NewEvents()
	session, err := n.Join(t.Context(), parsed, node.JoinOptions{OnEvent: events.Add})
	if err != nil {
		t.Fatal(err)
	}
	d := Adopted(n, session, events)
	if _, _, err := d.Create(t.Context(), Order{Text: bowl}, ""); !errors.Is(err, ErrFixed) {
		t.Errorf("create: %v", err)
	}
	if err := d.Leave(parsed.ID().String()); !errors.Is(err, ErrFixed) {
		t.Errorf("leave: %v", err)
	}
	of := d.Tasks()[0]
	before := of.LastEvent()
	equal(t, "adopted", asks(t, of, "a", 1, ""), 1)
	news := of.Events(before)
	for len(news.Items) == 0 { // told after the answer
		<-news.Changed
		news = of.Events(before)
	}
	if news.Items[0].Value.Type != agent.TrialStarted {
		t.Errorf("events %+v", news)
	}
}

func FuzzDecodeServed(f *testing.F) {
	const id = "bafkreihd3ow5wbnk3eqx3g7rawppatldfrvxbxwmnb4rtrzmgzzcswyzpq"
	t, err := all.Strategies().Parse("bowl", []byte(bowl))
	if err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(served{1, t.Canonical(), Order{Text: bowl, Enqueue: []json.RawMessage{[]byte(`{"x":1}`)}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, t.ID().String())
	f.Add(good, id)
	f.Add([]byte(`{"format":2}`), id)
	f.Add([]byte(`{"format":1,"canonical":null,"order":{"text":"","tables":{"a":"b"}}}`), id)
	f.Fuzz(func(t *testing.T, data []byte, id string) {
		read, o, err := decodeServed(data, id, all.Strategies())
		if err != nil {
			return
		}
		if read.ID().String() != id {
			t.Fatalf("%s was read as %v", id, read.ID())
		}
		_, _ = o.options(read)
	})
}
