package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy/all"
)

// fakeNode answers by path, and notes requests.
type fakeNode struct {
	answers map[string]string // "" for another answer than these
	block   chan struct{}     // if set, answers wait for its end

	mu       sync.Mutex
	requests []Request
}

func (n *fakeNode) Do(ctx context.Context, r Request, into any) error {
	n.mu.Lock()
	n.requests = append(n.requests, r)
	n.mu.Unlock()
	if n.block != nil {
		select {
		case <-n.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	path, _, _ := strings.Cut(r.Path, "?")
	answer, ok := n.answers[path]
	if !ok {
		return errors.New("nothing is at this path\nof the node")
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal([]byte(answer), into)
}

func (n *fakeNode) all() []Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.requests)
}

// connect returns a client of a server.
func connect(t *testing.T, node Node, o Options) *mcp.ClientSession {
	t.Helper()
	o.Strategies = all.Strategies()
	if o.Client == "" {
		o.Client, o.Lease = "agent", time.Hour
	}
	server, client := mcp.NewInMemoryTransports()
	if _, err := New(node, o).Connect(t.Context(), server, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func call(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if len(result.Content) != 1 {
		t.Fatalf("%s: %d contents", tool, len(result.Content))
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func toolsOf(t *testing.T, session *mcp.ClientSession) (names []string) {
	t.Helper()
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.OutputSchema == nil || tool.InputSchema == nil || tool.Annotations == nil {
			t.Errorf("%s has no schema or annotations", tool.Name)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

var (
	looking = []string{"best", "check_task", "front", "get_task", "history", "importance", "list_queue", "list_tasks", "status"}
	working = []string{"ask", "enqueue", "fail", "report_steps", "return_trial", "stop_trial", "tell", "withdraw"}
	tasking = []string{"create_task", "leave_task"}
)

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return all
}

func TestToolsThatAnAgentGets(t *testing.T) {
	t.Parallel()
	one := []taskref.Ref{{ID: "some", Name: "bowl"}}
	for _, c := range []struct {
		options Options
		want    []string
	}{
		{Options{}, sorted(looking, working, tasking)},
		{Options{Tasks: one}, sorted(looking, working)},
		{Options{ReadOnly: true}, looking},
		{Options{ReadOnly: true, Tasks: one}, looking},
	} {
		if got := toolsOf(t, connect(t, &fakeNode{}, c.options)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.options, got, c.want)
		}
	}
}

func TestDocumentedTools(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		got = append(got, row[1])
	}
	slices.Sort(got)
	if want := sorted(looking, working, tasking); !slices.Equal(got, want) {
		t.Errorf("docs/mcp.md has %v, expected %v", got, want)
	}
}

// secretTrial is a trial with all that an agent may not see.
const secretTrial = `{"id":1,"parameters":{"x":0.5,"n":3},"why":{"source":"fts","phrase":"sample from peer SECRET","peer":"SECRET"},"state":"done","attempts":1,
 "client":"SECRET","outcome":{"value":0.25,"metrics":{"accuracy":0.9}},"attributes":{"path":"SECRET"},"tags":["SECRET"],"files":[{"path":"SECRET"}],"notes":[{"id":1,"text":"SECRET"}]}`

// secretAnswers are answers of a node with one task, of which an agent may not see everything.
func secretAnswers(id string) map[string]string {
	at := "/v1/tasks/" + id
	return map[string]string{
		"/v1/tasks":  `{"tasks":[{"id":"` + id + `","name":"bowl","goal":"minimize","trials":{"done":1}},{"id":"SECRET","name":"SECRET","goal":"minimize","trials":{}}]}`,
		at + "/best": `{"trial":` + secretTrial + `,"recommended":{"parameters":{"x":0.4},"predicted":0.2,"noisy":true,"reason":"noise"}}`,
		at + "/status": `{"task":"` + id + `","tag":"SECRET","name":"bowl","peer_id":"SECRET","addresses":["SECRET"],"trials":{"done":1},"best":` + secretTrial + `,
 "topic_peers":["SECRET"],"peers":[{"id":"SECRET","path":"direct","address":"SECRET"}],"hubs":[{"id":"SECRET"}],"present":["SECRET"],"items":[{"name":"SECRET"}],"previous_tasks":[{"name":"SECRET"}]}`,
		at + "/trials": `{"trials":[` + secretTrial + `],"next":1}`,
		at + "/front":  `{"objectives":["a","b"],"trials":[` + secretTrial + `],"hypervolume":2}`,
		at + "/model":  `{"outcomes":1,"slices":[{"parameter":"SECRET"}],"importance":[{"parameter":"x","importance":1}],"method":"m"}`,
		at + "/queue":  `{"queued":[{"id":1,"parameters":{"x":1}}]}`,
		at + "/ask":    `{"trials":[` + secretTrial + `]}`,
		at:             `{"id":"` + id + `","name":"bowl","goal":"minimize","trials":{"done":1},"task":{"name":"bowl"}}`,
	}
}

func TestOutputsHaveNoPeersAndNoPaths(t *testing.T) {
	t.Parallel()
	session := connect(t, &fakeNode{answers: secretAnswers("some")}, Options{Tasks: []taskref.Ref{{ID: "some", Name: "bowl"}}})
	for tool, want := range map[string]string{
		"list_tasks": `"name":"bowl"`, "get_task": `"task":{"name":"bowl"}`, "best": `"predicted":0.2`, "status": `"peers":1`, "history": `"next":1`,
		"front": `"hypervolume":2`, "importance": `"importance":1`, "list_queue": `"x":1`, "ask": `"source":"fts"`,
	} {
		text, failed := call(t, session, tool, nil)
		if failed || strings.Contains(text, "SECRET") || !strings.Contains(text, want) {
			t.Errorf("%s: %s; expected %s", tool, text, want)
		}
	}
}

// arguments are valid ones of each tool about a task.
var arguments = map[string]map[string]any{
	"get_task": {}, "status": {}, "history": {}, "best": {}, "front": {}, "importance": {}, "list_queue": {}, "ask": {},
	"tell": {"trial": 1, "value": 0.5}, "fail": {"trial": 1, "reason": "broken"}, "report_steps": {"trial": 1, "steps": []object{{"step": 1, "value": 2}}},
	"stop_trial": {"trial": 1}, "return_trial": {"trial": 1}, "enqueue": {"parameters": object{"x": 1}}, "withdraw": {"id": 1},
}

func TestAgentStaysInItsTasks(t *testing.T) {
	t.Parallel()
	node := &fakeNode{answers: secretAnswers("some")}
	session := connect(t, node, Options{Tasks: []taskref.Ref{{ID: "some", Name: "bowl"}}})
	for _, other := range []string{"SECRET", "..", "../node", "some/../SECRET", "some/", "%2e%2e", "s", "some?x=1", " some"} {
		for tool, given := range arguments {
			in := map[string]any{"task": other}
			for name, value := range given {
				in[name] = value
			}
			if text, failed := call(t, session, tool, in); !failed || !strings.Contains(text, "no such task: ") || !strings.Contains(text, "the agent has task bowl (some)") {
				t.Errorf("%s of task %q: %s", tool, other, text)
			}
		}
	}
	if got := node.all(); len(got) != 0 {
		t.Errorf("requests were sent: %+v", got)
	}
	for _, tool := range tasking {
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: object{"task": "some", "text": "x"}}); err == nil {
			t.Errorf("%s is a tool", tool)
		}
	}
}

func TestTasksThatAreMissing(t *testing.T) {
	t.Parallel()
	two := secretAnswers("some")
	for answer, want := range map[string]string{
		`{"tasks":[]}`:   "the node has no task yet; create_task joins one",
		two["/v1/tasks"]: "task: it is missing; expected one of bowl (some), SECRET (SECRET)",
	} {
		session := connect(t, &fakeNode{answers: map[string]string{"/v1/tasks": answer}}, Options{})
		if text, failed := call(t, session, "status", nil); !failed || text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	session := connect(t, &fakeNode{}, Options{})
	if text, failed := call(t, session, "list_tasks", nil); !failed || text != "nothing is at this path; of the node" {
		t.Errorf("an error of the node: %q", text)
	}
}

func TestTextsOfAgentsAreSanitised(t *testing.T) {
	t.Parallel()
	answers := secretAnswers("some")
	answers["/v1/tasks/some/trials/1/fail"], answers["/v1/tasks/some/trials/1/stopped"] = secretTrial, secretTrial
	node := &fakeNode{answers: answers}
	session := connect(t, node, Options{Tasks: []taskref.Ref{{ID: "some"}}})
	for _, tool := range []string{"fail", "stop_trial"} {
		if text, failed := call(t, session, tool, object{"trial": 1, "reason": "a\x1b[2J\nb", "key": "k"}); failed {
			t.Fatal(text)
		}
	}
	requests := node.all()
	for _, r := range requests {
		if got := r.Body.(object)["reason"]; got != `a\x1b[2J b` || r.Key != "k" {
			t.Errorf("%s: reason %q, key %q", r.Path, got, r.Key)
		}
	}
	if len(requests) != 2 {
		t.Errorf("%d requests", len(requests))
	}
}

func TestTrialsOfOtherClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state, client string
		sent          bool
	}{
		{"running", "agent", true}, {"running", "other", false}, {"running", "", false}, {"waiting", "other", true}, {"done", "agent", true},
	} {
		at := "/v1/tasks/some/trials/1"
		now := fmt.Sprintf(`{"id":1,"parameters":{"x":1},"state":%q,"client":%q}`, c.state, c.client)
		node := &fakeNode{answers: map[string]string{at: now, at + "/tell": now}}
		text, failed := call(t, connect(t, node, Options{Tasks: []taskref.Ref{{ID: "some"}}}), "tell", object{"trial": 1, "value": 0.5})
		if sent := len(node.all()) == 2; sent != c.sent || failed == sent || failed && !strings.Contains(text, "trial 1: another client holds it") {
			t.Errorf("%+v: sent %v, %s", c, sent, text)
		}
	}
}

func TestCheckedTaskFilesReadNoFiles(t *testing.T) {
	t.Parallel()
	node := &fakeNode{}
	session := connect(t, node, Options{Tasks: []taskref.Ref{{ID: "some"}}})
	const text = "name: bowl\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: -2, high: 2}\n"
	got, failed := call(t, session, "check_task", object{"text": text})
	if failed || !strings.Contains(got, `"reveals":"Peers receive`) || !strings.Contains(got, `"sharing":"coarse: `) {
		t.Errorf("check_task: %s", got)
	}
	for _, file := range []string{"mcpserver_test.go", "/etc/passwd", "../../go.mod"} {
		got, failed := call(t, session, "check_task", object{"text": "name: bowl\ngoal: minimize\ndesigns: {file: " + file + "}\n"})
		if !failed || strings.Contains(got, "package mcpserver") || strings.Contains(got, "root:") || strings.Contains(got, "module") || strings.Contains(got, "\n") {
			t.Errorf("a table of designs %s: %s", file, got)
		}
	}
	if requests := node.all(); len(requests) != 0 {
		t.Errorf("requests were sent: %+v", requests)
	}
}

func TestToolsAtTheSameTime(t *testing.T) {
	t.Parallel()
	node := &fakeNode{answers: secretAnswers("some"), block: make(chan struct{})}
	session := connect(t, node, Options{Tasks: []taskref.Ref{{ID: "some"}}})
	const more = 5
	errs := make(chan error, maxCalls+more)
	for range maxCalls + more {
		go func() {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "best"})
			errs <- err
		}()
	}
	for range more { // the others wait
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "32 tools are running, expected at most that many") {
			t.Errorf("a tool above the limit: %v", err)
		}
	}
	close(node.block)
	for range maxCalls {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if _, failed := call(t, session, "best", nil); failed {
		t.Error("no tool works after that")
	}
}
