package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/eventlog"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/trialserver"
)

// A stream sends data at this interval, so that both ends detect a lost connection; a reader that
// accepts nothing for writeTimeout counts as lost.
const (
	silence      = 15 * time.Second
	writeTimeout = 10 * time.Second
)

func (a *api) addEvents() {
	o := op(http.MethodGet, "/v1/tasks/{task}/events", "events", "A stream of what happens", http.StatusNotFound, http.StatusServiceUnavailable)
	o.Description = "Server-sent events: trial_started, trial_reported, trial_finished, trial_annotated, design_enqueued, design_withdrawn, lease_ended, share_sent, share_received, wait_ended, warning; " +
		"the data is an object as `run --json` prints it. The newest 1000 can be read again, by the ID of the last one seen; " +
		"an event `missed` says that some before the next are not kept: read the trials anew. It begins with what happens after the request."
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	o.Responses = map[string]*huma.Response{"200": {Description: "The stream. The schema is that of one event.", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
		Type: huma.TypeObject, Required: []string{"event", "data"},
		Properties: map[string]*huma.Schema{"id": text("none for missed"), "event": text("its type"), "data": text("an object in JSON")},
	}}}}}
	huma.Register(a.API, o, a.events)
}

type eventsInput struct {
	InTask
	Last  string `header:"Last-Event-ID" pattern:"^[0-9]{1,19}$" patternDescription:"the ID of an event, a whole number" doc:"Begin after this event; clients of server-sent events say so by themselves."`
	After string `query:"after" pattern:"^[0-9]{1,19}$" patternDescription:"the ID of an event, a whole number" doc:"The same for others."`
}

// number reads an event's ID; none means the newest.
func (in *eventsInput) number(newest uint64) (uint64, error) {
	for _, given := range []struct{ at, text string }{{"header.Last-Event-ID", in.Last}, {"query.after", in.After}} {
		if given.text == "" {
			continue
		}
		n, err := strconv.ParseUint(given.text, 10, 64)
		if err != nil {
			return 0, invalid(given.at, fmt.Errorf("%.40q: expected the ID of an event, a whole number", given.text))
		}
		return n, nil
	}
	return newest, nil
}

func (a *api) events(_ context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	after, err := in.number(t.LastEvent())
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		select {
		case a.streams <- struct{}{}:
			defer func() { <-a.streams }()
		default:
			w.Header().Set("Retry-After", "5")
			httpaccess.Refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d streams are open, which is the most", cap(a.streams)))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		// An error means that the client has disconnected.
		_ = stream(r.Context(), w, t, after)
	}}, nil
}

// stream writes events until the reader, the task or the node ends.
func stream(ctx context.Context, w http.ResponseWriter, t *trialserver.Task, after uint64) error {
	control := http.NewResponseController(w)
	quiet := time.NewTicker(silence)
	defer quiet.Stop()
	send := func(text string) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // without one, the system's own applies
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return control.Flush()
	}
	if err := send(": events\n\n"); err != nil {
		return err
	}
	for {
		news := t.Events(after)
		text, err := eventsText(news)
		if err != nil {
			return err
		}
		if text != "" {
			if err := send(text); err != nil {
				return err
			}
		}
		if len(news.Items) > 0 {
			after = news.Items[len(news.Items)-1].Number
		} else if news.Missed {
			after = t.LastEvent()
		}
		if news.Closed {
			return nil
		}
		select {
		case <-news.Changed:
		case <-quiet.C:
			if err := send(": quiet\n\n"); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func eventsText(news eventlog.Batch[agent.Event]) (string, error) {
	var b strings.Builder
	if news.Missed {
		b.WriteString("event: missed\ndata: {}\n\n")
	}
	for _, item := range news.Items {
		data, err := json.Marshal(item.Value) // has no line breaks
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: %s\n\n", item.Number, item.Value.Type, sanitize.JSON(data))
	}
	return b.String(), nil
}
