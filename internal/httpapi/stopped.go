package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Past is what the journal of a stopped node has of a task.
type Past struct {
	Task   *task.Task
	Trials []strategy.Trial
	Queue  []agent.Queued
}

// NewStopped returns a handler with the part of the interface that needs no running node: tasks,
// trials, their output, the best one, the Pareto front, queued designs and exports. Everything else is refused with 503.
// The answers stay as the journal was when it was read.
func NewStopped(version string, pasts []Past, printed func(of *task.Task, trial uint64, out io.Writer) error) http.Handler {
	s := &stopped{version: version, pasts: pasts, printed: printed}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/node", s.node)
	mux.HandleFunc("GET /v1/tasks", s.tasks)
	mux.HandleFunc("GET /v1/log", func(w http.ResponseWriter, _ *http.Request) { respond(w, logBody{Lines: []Warning{}}, nil) })
	for path, handle := range map[string]func(http.ResponseWriter, *http.Request, Past){
		"": s.task, "/trials": s.trials, "/trials/{trial}": s.trial, "/trials/{trial}/output": s.output,
		"/best": s.best, "/front": s.front, "/queue": s.queue, "/export": s.export, "/events": s.events,
	} {
		mux.HandleFunc("GET /v1/tasks/{task}"+path, func(w http.ResponseWriter, r *http.Request) {
			for _, p := range s.pasts {
				if p.Task.ID().String() == r.PathValue("task") {
					handle(w, r, p)
					return
				}
			}
			httpaccess.Refuse(w, http.StatusNotFound, "the journal has no such task; expected an ID")
		})
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, _ *http.Request) {
		httpaccess.Refuse(w, http.StatusServiceUnavailable, "no node runs on this data directory: its journal is shown")
	})
	return mux
}

type stopped struct {
	version string
	pasts   []Past
	printed func(of *task.Task, trial uint64, out io.Writer) error
}

// respond sends an answer in JSON, or the error.
func respond(w http.ResponseWriter, body any, err error) {
	var b bytes.Buffer
	if err == nil {
		err = marshal(&b, body)
	}
	if err != nil {
		httpaccess.Refuse(w, http.StatusInternalServerError, plainText(err))
		return
	}
	send(w, "application/json", b.Bytes())
}

func send(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data) // an error means that the client has disconnected
}

func (s *stopped) node(w http.ResponseWriter, _ *http.Request) {
	respond(w, nodeBody{Version: s.version, Addresses: []string{}, Tasks: len(s.pasts), Stopped: true}, nil)
}

func (s *stopped) tasks(w http.ResponseWriter, _ *http.Request) {
	lines := []taskLine{}
	for _, p := range s.pasts {
		summary := trialserver.Summarise(p.Task, p.Trials)
		lines = append(lines, taskLine{summary.ID, summary.Name, string(p.Task.Goal), objectivesOf(p.Task), summary.Trials})
	}
	respond(w, struct {
		Tasks []taskLine `json:"tasks"`
	}{lines}, nil)
}

func (s *stopped) task(w http.ResponseWriter, _ *http.Request, p Past) {
	summary := trialserver.Summarise(p.Task, p.Trials)
	respond(w, taskBody{summary.ID, summary.Name, string(p.Task.Goal), objectivesOf(p.Task), summary.Trials, object(p.Task.File())}, nil)
}

func (s *stopped) trials(w http.ResponseWriter, r *http.Request, p Past) {
	query := r.URL.Query()
	after, _ := strconv.ParseUint(query.Get("after"), 10, 64) // 0 begins at the first
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 || limit > maxPage {
		limit = maxPage
	}
	rest := p.Trials[min(after, uint64(len(p.Trials))):]
	body := pageBody{}
	if len(rest) > limit {
		rest = rest[:limit]
		body.Next = rest[limit-1].ID
	}
	body.Trials, err = trialsOf(rest, nil)
	respond(w, body, err)
}

// oneOf returns the trial of a path, or refuses the request.
func oneOf(w http.ResponseWriter, r *http.Request, p Past) (t strategy.Trial, ok bool) {
	id, err := strconv.ParseUint(r.PathValue("trial"), 10, 64)
	if err != nil || id == 0 || id > uint64(len(p.Trials)) {
		httpaccess.Refuse(w, http.StatusNotFound, fmt.Sprintf("no such trial; trials 1 to %d exist", len(p.Trials)))
		return t, false
	}
	return p.Trials[id-1], true
}

func (s *stopped) trial(w http.ResponseWriter, r *http.Request, p Past) {
	if t, ok := oneOf(w, r, p); ok {
		shown, err := trialOf(t, time.Time{})
		respond(w, shown, err)
	}
}

func (s *stopped) output(w http.ResponseWriter, r *http.Request, p Past) {
	t, ok := oneOf(w, r, p)
	if !ok {
		return
	}
	kept := &tail{most: maxPrinted}
	if err := s.printed(p.Task, t.ID, kept); err != nil {
		respond(w, nil, err)
		return
	}
	if kept.all == 0 {
		httpaccess.Refuse(w, http.StatusNotFound, fmt.Sprintf("nothing that trial %d printed is kept", t.ID))
		return
	}
	respond(w, outputBody{sanitize.Lines(string(kept.last)), kept.all - int64(len(kept.last))}, nil)
}

func (s *stopped) best(w http.ResponseWriter, _ *http.Request, p Past) {
	body := bestBody{}
	best := strategy.Best(p.Task, p.Trials)
	if best == nil {
		respond(w, body, nil)
		return
	}
	shown, err := trialOf(*best, time.Time{})
	body.Trial = &shown
	respond(w, body, err)
}

func (s *stopped) queue(w http.ResponseWriter, _ *http.Request, p Past) {
	body, err := queueOf(p.Queue)
	respond(w, body, err)
}

func (s *stopped) export(w http.ResponseWriter, r *http.Request, p Past) {
	var file bytes.Buffer
	kind, err := "application/json", error(nil)
	if r.URL.Query().Get("format") == "csv" {
		kind, err = "text/csv; charset=utf-8", export.CSV(&file, p.Task, p.Trials)
	} else {
		err = export.JSON(&file, p.Task, p.Trials, nil)
	}
	if err != nil {
		respond(w, nil, err)
		return
	}
	send(w, kind, file.Bytes())
}

// events is a stream without events, so that readers find the connection intact.
func (s *stopped) events(w http.ResponseWriter, r *http.Request, _ Past) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	quiet := time.NewTicker(silence)
	defer quiet.Stop()
	for text := ": events\n\n"; ; text = ": quiet\n\n" {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // without one, the system's own applies
		if _, err := io.Copy(w, strings.NewReader(text)); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-quiet.C:
		case <-r.Context().Done():
			return
		}
	}
}
