package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/httpapi"
	"github.com/fbo-node/fbo/internal/webpage"
	"github.com/fbo-node/fbo/strategy"
)

// AnyPort is the default address of a page.
const AnyPort = "127.0.0.1:0"

func addPage(flags *pflag.FlagSet, address *string) {
	flags.StringVar(address, "web", "", "serve a page about this node to browsers of this machine, and print its link; --web=127.0.0.1:7071 chooses the port (default: not)")
	flags.Lookup("web").NoOptDefVal = AnyPort
}

// checkPage accepts only addresses of this machine.
func checkPage(address string) error {
	if address == "" {
		return nil
	}
	local, err := httpaccess.CheckAddress(address)
	if err != nil {
		return base.Usagef("--web %w", err)
	}
	if !local {
		return base.Usagef("--web %s: expected addresses of this machine alone, such as 127.0.0.1:7071; from elsewhere, a tunnel such as `ssh -L` reaches it", address)
	}
	return nil
}

// PageServer serves the page about a node.
type PageServer struct {
	Link  string       // with the key
	Ended <-chan error // receives the reason when the page ends

	server *http.Server
}

// ServePage serves the page at an address of this machine. Clients with the page's key can read the
// HTTP interface; those with the token in the data directory can also write, as with --http. The
// key is valid only until the node ends. It follows the # of the link, a part that browsers never
// send. An empty directory means a page without writing.
func ServePage(ctx context.Context, address, dir string, api http.Handler) (*PageServer, error) {
	token, err := writeToken(dir)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--web %s: %w", address, err)
	}
	key := rand.Text()
	read := limits(defaultRateLimit)
	read.CheckHost, read.Own = true, true // a tunnel changes the port
	files := read
	write := read
	read.Token, write.Token = key, token
	api = fewStreams(api)
	mux := http.NewServeMux()
	mux.Handle("/v1/", byToken(write, write.Protect(api), read.Protect(readOnly(api))))
	mux.Handle("/", files.Protect(webpage.Handler()))
	ended := make(chan error, 1)
	p := &PageServer{Link: "http://" + listener.Addr().String() + "/#key=" + key, Ended: ended, server: httpaccess.NewServer(mux, quietLog())}
	p.server.BaseContext = func(net.Listener) context.Context { return ctx }
	listener = httpaccess.KeepOut(p.server, listener)
	go func() { ended <- p.server.Serve(listener) }()
	return p, nil
}

// writeToken returns the token of a data directory, and none without a directory.
func writeToken(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	token, err := httpaccess.LoadToken(filepath.Join(dir, tokenFile))
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return token, nil
}

// Close ends the page.
func (p *PageServer) Close() error {
	p.server.Close() // streams do not end by themselves
	return nil
}

// byToken serves requests with the policy's token by one handler, and all others by another.
func byToken(policy httpaccess.Policy, with, without http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if policy.Bears(r) {
			with.ServeHTTP(w, r)
			return
		}
		without.ServeHTTP(w, r)
	})
}

// readOnly passes on only requests that change nothing.
func readOnly(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			httpaccess.Refuse(w, http.StatusMethodNotAllowed, "method "+r.Method+": the key of a page permits reading; writing needs the token in "+tokenFile)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// pageStreams is the maximum number of event streams of a node's pages, of the 64 of all its
// clients.
const pageStreams = 16

// fewStreams keeps streams of events available for other clients.
func fewStreams(api http.Handler) http.Handler {
	open := make(chan struct{}, pageStreams)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			select {
			case open <- struct{}{}:
				defer func() { <-open }()
			default:
				w.Header().Set("Retry-After", "1")
				httpaccess.Refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("pages have %d streams of events open, which is the most", pageStreams))
				return
			}
		}
		api.ServeHTTP(w, r)
	})
}

// NewWeb returns the command web.
func NewWeb() *cobra.Command {
	var dir, address string
	var asJSON bool
	command := &cobra.Command{
		Use:   "web",
		Short: "Show the page of a node in a browser of this machine",
		Long: `Show the page of a node (run, serve or keep) in a browser of this machine. It prints the
page's link and serves the page until Ctrl-C, which the node does not notice. Of a node that does
not run it shows the journal: trials, timeline, notes and queued designs, without writing.
The link permits reading all that the node shows its user. Writing also needs the token in
http.token in the data directory.`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkPage(address); err != nil {
				return err
			}
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			ctx := command.Context()
			_, running, err := control.Tasks(ctx, dataDir)
			if err != nil {
				return err
			}
			api, written := ThroughSocket(filepath.Join(dataDir, control.Socket)), dataDir
			if !running {
				written = ""
				if api, err = ofJournal(dataDir); err != nil {
					return err
				}
			}
			page, err := ServePage(ctx, address, written, api)
			if err != nil {
				return err
			}
			out := command.OutOrStdout()
			if asJSON {
				err = base.PrintJSON(out, base.Object{"event": "page_served", "url": page.Link})
			} else {
				_, err = fmt.Fprintf(out, "page: %s\n", page.Link)
			}
			if err != nil {
				return errors.Join(err, page.Close())
			}
			if base.IsTerminal(out) {
				base.OpenBrowser(page.Link)
			}
			select {
			case <-ctx.Done():
				return page.Close()
			case err := <-page.Ended:
				return err
			}
		},
	}
	base.AddDataDir(command, &dir)
	base.AddJSON(command, &asJSON)
	command.Flags().StringVar(&address, "address", AnyPort, "address to serve the page at, of this machine; port 0: any free one")
	return command
}

// ofJournal returns a handler that shows the journal of a stopped node, as it is now.
func ofJournal(dataDir string) (http.Handler, error) {
	var pasts []httpapi.Past
	err := past.EachInJournal(dataDir, func(id string, h past.History, err error) error {
		if _, unknown := errors.AsType[*strategy.UnknownError](err); unknown {
			return nil // this program cannot show it
		}
		if err != nil {
			return err
		}
		for i := range h.Trials {
			if h.Trials[i].State == past.Interrupted {
				h.Trials[i].State = strategy.Waiting
			}
		}
		pasts = append(pasts, httpapi.Past{Task: h.Task, Trials: h.Trials, Queue: h.Queue})
		return nil
	})
	if err == nil && len(pasts) == 0 {
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no node runs on data directory " + dataDir + ", and its journal has no task to show")
	}
	if err != nil {
		return nil, err
	}
	return httpapi.NewStopped(base.Version(), pasts, printed(dataDir)), nil
}

// ThroughSocket returns a handler that asks the node of a socket. It forwards only the parts of a
// page's requests that the interface reads.
func ThroughSocket(path string) http.Handler {
	return &httputil.ReverseProxy{
		Transport: control.Client(path).Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "node"})
			r.Out.Host = "node"
			r.Out.Header = http.Header{}
			for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key", "Last-Event-ID"} {
				if given, ok := r.In.Header[http.CanonicalHeaderKey(name)]; ok {
					r.Out.Header[http.CanonicalHeaderKey(name)] = given
				}
			}
		},
		ErrorLog: quietLog(),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			httpaccess.Refuse(w, http.StatusServiceUnavailable, "the node does not answer: it has ended, or is ending")
		},
	}
}
