package democmd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/run"
	"github.com/fbo-node/fbo/internal/httpaccess"
)

// overview is the readable part of the HTTP interface over the nodes of a demo: each node is listed
// as a task, with the name of its site.
type overview struct {
	mu    sync.Mutex
	nodes []overviewNode // in the order of their start
}

type overviewNode struct {
	*site
	id     string
	socket string
	proxy  http.Handler
}

// overview serves the page of all nodes, and opens it if there is a screen.
func (d *demo) overview(ctx context.Context, f *federation) (end func() error, err error) {
	var o overview
	page, err := run.ServePage(ctx, run.AnyPort, "", o.handler())
	if err != nil {
		return nil, err
	}
	f.started = o.add
	fmt.Fprintf(d.show, "\noverview: %s\n", page.Link)
	if base.IsTerminal(d.show) {
		base.OpenBrowser(page.Link)
	}
	return page.Close, nil
}

// add adds a node that has joined its task.
func (o *overview) add(s *site) {
	socket := filepath.Join(s.dir, control.Socket)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nodes = append(o.nodes, overviewNode{s, strings.ReplaceAll(s.name, " ", "-"), socket, run.ThroughSocket(socket)})
	slices.SortFunc(o.nodes, func(a, b overviewNode) int { return strings.Compare(a.dir, b.dir) })
}

func (o *overview) list() []overviewNode {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.nodes)
}

func (o *overview) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/node", func(w http.ResponseWriter, r *http.Request) {
		nodes, addresses := o.list(), []string{}
		for _, n := range nodes {
			addresses = append(addresses, n.name+": "+n.addresses[0])
		}
		answer(w, map[string]any{"version": base.Version(), "peer_id": strconv.Itoa(len(nodes)) + " nodes of the demo", "addresses": addresses, "tasks": len(nodes)})
	})
	mux.HandleFunc("GET /v1/tasks", func(w http.ResponseWriter, r *http.Request) {
		tasks := []any{}
		for _, n := range o.list() {
			if task, err := n.shown(r.Context()); err == nil {
				delete(task, "task")
				tasks = append(tasks, task)
			}
		}
		answer(w, map[string]any{"tasks": tasks})
	})
	mux.HandleFunc("GET /v1/log", func(w http.ResponseWriter, r *http.Request) {
		answer(w, map[string]any{"lines": []any{}}) // the demo prints warnings
	})
	mux.HandleFunc("GET /v1/tasks/{node}/{rest...}", o.forward)
	mux.HandleFunc("GET /v1/tasks/{node}", o.forward)
	return mux
}

// forward passes a request about a node on to it.
func (o *overview) forward(w http.ResponseWriter, r *http.Request) {
	for _, n := range o.list() {
		if n.id != r.PathValue("node") {
			continue
		}
		rest := r.PathValue("rest")
		if rest == "" {
			if task, err := n.shown(r.Context()); err == nil {
				answer(w, task)
				return
			}
		}
		r.URL.Path = strings.TrimSuffix("/v1/tasks/"+n.task+"/"+rest, "/")
		n.proxy.ServeHTTP(w, r)
		return
	}
	httpaccess.Refuse(w, http.StatusNotFound, "there is no such node in the demo")
}

// shown returns a node's task under the name of its site.
func (n overviewNode) shown(ctx context.Context) (task map[string]any, err error) {
	if err := n.ask(ctx, "/"+n.task, nil, &task); err != nil {
		return nil, err
	}
	task["id"], task["name"] = n.id, n.name
	return task, nil
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // an error means that the client has gone
}
