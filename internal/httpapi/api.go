package httpapi

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/task"
)

// Options are limits; zero means the default.
type Options struct {
	Version string        // of the program
	Lease   time.Duration // of a trial if the client requests none; default DefaultLease
	Streams int           // maximum number of concurrent event streams; default 64

	// UntilUnused reports that the node ends with the last program that uses it.
	UntilUnused bool
	// Printed, if set, writes the output of a trial's command.
	Printed func(of *task.Task, trial uint64, out io.Writer) error
	// Warnings, if set, returns the newest warnings of the node, the oldest first.
	Warnings func() []Warning
}

// DefaultLease is the time after the last request of its client after which a trial is given to
// another one.
const DefaultLease = 10 * time.Minute

// Limits of client requests.
const (
	maxLease  = 30 * 24 * time.Hour // one of less than a second may end before the answer arrives
	maxWait   = time.Minute
	maxPage   = 1000
	largeBody = 32 << 20 // bytes of an order or an import
)

type api struct {
	huma.API
	server  *trialserver.Server
	options Options
	streams chan struct{} // has one entry for each open stream
	looks   chan struct{} // has an entry while a client views a model
}

// New returns the handler of a Server.
func New(d *trialserver.Server, o Options) http.Handler {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Streams == 0 {
		o.Streams = 64
	}
	config := huma.DefaultConfig("fbo-node", o.Version)
	config.Info.Description = "Trials of the tasks that a node serves. " +
		"On the socket control.sock in the data directory a request has any host: `curl --unix-socket control.sock http://node/v1/node`. " +
		"Requests with the header Idempotency-Key are carried out once, also over restarts of the node."
	config.Servers = []*huma.Server{{URL: "http://127.0.0.1:7070", Description: "A node that was started with --http 127.0.0.1:7070."}}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/v1/openapi", "", ""
	config.CreateHooks = nil // no $schema in answers
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {
		Type: "http", Scheme: "bearer", Description: "The line in http.token in the data directory. On the socket none is needed.",
	}}
	config.Security = []map[string][]string{{"token": {}}}
	format := huma.Format{Marshal: marshal, Unmarshal: unmarshal}
	config.Formats = map[string]huma.Format{"application/json": format, "json": format} // json: media types that end in +json
	a := &api{server: d, options: o, streams: make(chan struct{}, o.Streams), looks: make(chan struct{}, 1)}
	config.Transformers = []huma.Transformer{a.explain}
	mux := http.NewServeMux()
	a.API = humago.New(mux, config)
	a.UseMiddleware(a.wellFormed)
	a.addTasks()
	a.addTrials()
	a.addSteps()
	a.addQueue()
	a.addShares()
	a.addAnnotate()
	a.addAnswers()
	a.addEvents()
	a.addLooks()
	a.addHealth()
	return unknownPaths(mux)
}

// op describes an operation; errors are its errors in addition to those of all operations, some of
// which are from internal/httpaccess.
func op(method, path, id, summary string, errors ...int) huma.Operation {
	o := huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, Tags: []string{tagOf(path)}, Errors: append(errors,
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest,
		http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable)}
	if method == http.MethodPost {
		o.Errors = append(o.Errors, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return o
}

// tagOf returns the kind of a path.
func tagOf(path string) string {
	switch path {
	case LivePath, ReadyPath:
		return "health"
	}
	inTask, found := strings.CutPrefix(path, "/v1/tasks")
	if !found {
		return "node"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(inTask, "/{task}/"), "/")
	switch first {
	case "trials", "ask", "enqueue", "queue", "import", "export", "best":
		return "trials"
	case "model", "contour", "recommendation":
		return "model"
	case "peers", "contributions", "rounds", "privacy", "shares":
		return "peers"
	}
	return "tasks"
}

// schemaName returns the name of a type without the suffix of bodies.
func schemaName(t reflect.Type, hint string) string {
	return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Body")
}

// large permits a large body for an operation, which may take long to arrive.
func large(o huma.Operation) huma.Operation {
	o.MaxBodyBytes, o.BodyReadTimeout = largeBody, time.Minute
	return o
}
