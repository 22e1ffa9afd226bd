package vizierapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/trialserver"
)

// Service is the name of the service in the paths of requests.
const Service = "/vizier.VizierService/"

// MaxBody is the maximum number of bytes of a request, and of its message.
const MaxBody = 4 << 20

const (
	// maxSuggestions is the largest suggestion_count.
	maxSuggestions = trialserver.MaxCount
	// lease is the time for which a client holds a trial: practically for ever, as with Vizier.
	lease = 10 * 365 * 24 * time.Hour
	// defaultWait is the default of Options.Wait.
	defaultWait = 20 * time.Second
)

// Options are settings; zero means the default.
type Options struct {
	// Wait is the time after which a request for suggestions returns an operation that is not done;
	// default 20 s.
	Wait time.Duration
}

// service carries out requests.
type service struct {
	server *trialserver.Server
	store  *store
	wait   time.Duration

	changes sync.Mutex // held while a study changes
}

// New returns the handler of a Server. It reads the studies in the node's data directory.
func New(d *trialserver.Server, o Options) (http.Handler, error) {
	store, err := openStore(d.Node().Dir, d.Node().Strategies)
	if err != nil {
		return nil, err
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	s := &service{server: d, store: store, wait: o.Wait}
	mux := http.NewServeMux()
	handle(mux, "CreateStudy", s.createStudy)
	handle(mux, "GetStudy", s.getStudy)
	handle(mux, "ListStudies", s.listStudies)
	handle(mux, "DeleteStudy", s.deleteStudy)
	handle(mux, "SetStudyState", s.setStudyState)
	handle(mux, "UpdateMetadata", s.updateMetadata)
	handle(mux, "SuggestTrials", s.suggestTrials)
	handle(mux, "GetOperation", s.getOperation)
	handle(mux, "CreateTrial", s.createTrial)
	handle(mux, "GetTrial", s.getTrial)
	handle(mux, "ListTrials", s.listTrials)
	handle(mux, "ListOptimalTrials", s.listOptimalTrials)
	handle(mux, "AddTrialMeasurement", s.addTrialMeasurement)
	handle(mux, "CompleteTrial", s.completeTrial)
	handle(mux, "StopTrial", s.stopTrial)
	handle(mux, "CheckTrialEarlyStoppingState", s.checkTrialEarlyStoppingState)
	handle(mux, "DeleteTrial", s.deleteTrial)
	return mux, nil
}

// handle adds a procedure, whose errors get their status.
func handle[Request, Answer any](mux *http.ServeMux, name string, do func(context.Context, *Request) (*Answer, error)) {
	mux.Handle(Service+name, connect.NewUnaryHandlerSimple(Service+name, func(ctx context.Context, request *Request) (*Answer, error) {
		answer, err := do(ctx, request)
		return answer, statusOf(err)
	}, connect.WithReadMaxBytes(MaxBody), connect.WithRecover(func(_ context.Context, _ connect.Spec, _ http.Header, panicked any) error {
		return connect.NewError(connect.CodeInternal, fmt.Errorf("%s failed: %s", name, sanitize.Text(fmt.Sprint(panicked), maxMessage)))
	})))
}
