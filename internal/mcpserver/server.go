package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy"
)

// Request is a request of the HTTP interface of a node (docs/http.md).
type Request struct {
	Method string
	Path   string
	Key    string // Idempotency-Key; empty: none
	Body   any    // in JSON; nil: none
}

// Node sends requests to the node that owns the tasks.
type Node interface {
	// Do reads the object of the answer, unless into is nil. The error of a refused request is the detail of
	// the node's problem.
	Do(ctx context.Context, r Request, into any) error
}

// Options restrict what an agent can do.
type Options struct {
	Version    string        // of the program
	Client     string        // name under which the agent holds trials
	Lease      time.Duration // time after the agent's last ask after which another client gets its trials
	Tasks      []taskref.Ref // the only tasks of the agent, which then can neither create nor leave one; empty: all tasks of the node
	ReadOnly   bool          // only tools that change nothing
	Strategies strategy.Set  // of the node, for checks of task files
}

// Limits of an agent.
const (
	maxCalls    = 32   // tools that run at the same time
	maxError    = 4000 // characters of an error
	maxHeld     = 100  // trials that one ask can return
	defaultPage = 20   // trials of a page of the history
	maxPage     = 200
)

// instructions describe the use of the tools to a model.
const instructions = `fbo tunes an expensive objective by Bayesian optimisation, together with peers.
A task has parameters and an objective. A trial is one design, a value for each parameter, that you evaluate.
Loop: ask returns a trial; evaluate its parameters; tell reports the measured objective, or fail the reason why there is none.
ask returns trials that you hold already before it gives new ones. Report measured values only; never invent one.
best shows the best trial, history all of them, importance which parameters matter.`

type server struct {
	*mcp.Server
	node    Node
	options Options
	calls   chan struct{} // has an entry for each running tool
}

// New returns the server of an agent.
func New(node Node, o Options) *mcp.Server {
	s := &server{node: node, options: o, calls: make(chan struct{}, maxCalls)}
	s.Server = mcp.NewServer(&mcp.Implementation{Name: "fbo-node", Title: "fbo: federated Bayesian optimisation", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	s.AddReceivingMiddleware(s.limit)
	s.addLooking()
	if !o.ReadOnly {
		s.addWorking()
		if len(o.Tasks) == 0 {
			s.addTasks()
		}
	}
	return s.Server
}

// limit refuses calls of tools above the number that may run at the same time.
func (s *server) limit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method != "tools/call" {
			return next(ctx, method, request)
		}
		select {
		case s.calls <- struct{}{}:
		default:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("%d tools are running, expected at most that many; wait for an answer", maxCalls)}
		}
		defer func() { <-s.calls }()
		return next(ctx, method, request)
	}
}

// raw permits any JSON where a type has json.RawMessage.
var raw = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}}

// schemaOf returns the schema of a type of this package.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](raw)
	if err != nil {
		panic(err) // the types are constant
	}
	return schema
}

// effect is what a tool changes.
type effect int

const (
	looks   effect = iota // nothing
	adds                  // a repeated call has a further effect
	repeats               // a repeated call has no further effect
	removes               // as repeats; something is removed
)

// add adds a tool. Its errors are results with isError, of one line.
func add[In, Out any](s *server, name, description string, e effect, do func(context.Context, In) (Out, error)) {
	destructive, open := e == removes, false
	tool := &mcp.Tool{
		Name: name, Description: description, InputSchema: schemaOf[In](), OutputSchema: schemaOf[Out](),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: e == looks, IdempotentHint: e != adds, DestructiveHint: &destructive, OpenWorldHint: &open},
	}
	mcp.AddTool(s.Server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, err := do(ctx, in)
		if err != nil {
			err = errors.New(sanitize.Text(strings.ReplaceAll(err.Error(), "\n", "; "), maxError))
		}
		return nil, out, err
	})
}

// InTask names a task.
type InTask struct {
	Task string `json:"task,omitempty" jsonschema:"the task: its ID, the first characters of it (8 or more) or its name; not needed if there is only one"`
}

// tasks returns the tasks of the agent.
func (s *server) tasks(ctx context.Context) ([]taskref.Ref, error) {
	if len(s.options.Tasks) > 0 {
		return s.options.Tasks, nil
	}
	var list struct {
		Tasks []taskref.Ref `json:"tasks"`
	}
	err := s.get(ctx, "/v1/tasks", &list)
	return list.Tasks, err
}

// path returns the path of a task of the agent.
func (s *server) path(ctx context.Context, in InTask) (string, error) {
	tasks, err := s.tasks(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case len(tasks) == 0:
		return "", errors.New("the node has no task yet; create_task joins one")
	case in.Task == "" && len(tasks) == 1:
		return "/v1/tasks/" + tasks[0].ID, nil
	case in.Task == "":
		return "", fmt.Errorf("task: it is missing; expected one of %s", taskref.Names(tasks))
	}
	found, err := taskref.Find(tasks, in.Task)
	if errors.Is(err, taskref.ErrUnknown) {
		err = fmt.Errorf("%w; the agent has %s", err, taskref.List(tasks))
	}
	return "/v1/tasks/" + found.ID, err
}

// permits reports whether a task is one of the agent's.
func (s *server) permits(id string) bool {
	return len(s.options.Tasks) == 0 || slices.ContainsFunc(s.options.Tasks, func(r taskref.Ref) bool { return r.ID == id })
}

func (s *server) get(ctx context.Context, path string, into any) error {
	return s.node.Do(ctx, Request{Method: http.MethodGet, Path: path}, into)
}

// getOf reads what the node answers about a task at a path below it.
func (s *server) getOf(ctx context.Context, in InTask, path string, into any) error {
	at, err := s.path(ctx, in)
	if err != nil {
		return err
	}
	return s.get(ctx, at+path, into)
}

// postOf sends a change of a task to a path below it.
func (s *server) postOf(ctx context.Context, in InTask, path, key string, body, into any) error {
	at, err := s.path(ctx, in)
	if err != nil {
		return err
	}
	return s.change(ctx, Request{http.MethodPost, at + path, key, body}, into)
}

// keys are the accepted keys of requests.
var keys = regexp.MustCompile(`^[!-~]{0,128}$`)

// change sends a request that may have a key.
func (s *server) change(ctx context.Context, r Request, into any) error {
	if !keys.MatchString(r.Key) {
		return fmt.Errorf("key %.50q: expected at most 128 visible ASCII characters", r.Key)
	}
	return s.node.Do(ctx, r, into)
}
