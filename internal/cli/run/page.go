package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/webpage"
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
		return base.Usagef("--web %s: accepted are addresses of this machine alone, such as 127.0.0.1:7071; from elsewhere, a tunnel such as `ssh -L` reaches it", address)
	}
	return nil
}

// PageServer serves the page about a node.
type PageServer struct {
	Link  string       // with the key
	Ended <-chan error // receives the reason when the page ends

	server *http.Server
}

// ServePage serves the page at an address of this machine, and the readable part of the HTTP
// interface to clients with the page's key. The key is valid only until the node ends. It follows
// the # of the link, a part that browsers never send.
func ServePage(ctx context.Context, address string, api http.Handler) (*PageServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--web %s: %w", address, err)
	}
	key := rand.Text()
	read := limits(defaultRateLimit)
	read.CheckHost, read.Own = true, true // a tunnel changes the port
	files := read
	read.Token = key
	mux := http.NewServeMux()
	mux.Handle("/v1/", read.Protect(readOnly(fewStreams(api))))
	mux.Handle("/", files.Protect(webpage.Handler()))
	ended := make(chan error, 1)
	p := &PageServer{Link: "http://" + listener.Addr().String() + "/#key=" + key, Ended: ended, server: httpaccess.NewServer(mux, quietLog())}
	p.server.BaseContext = func(net.Listener) context.Context { return ctx }
	listener = httpaccess.KeepOut(p.server, listener)
	go func() { ended <- p.server.Serve(listener) }()
	return p, nil
}

// Close ends the page.
func (p *PageServer) Close() error {
	p.server.Close() // streams do not end by themselves
	return nil
}

// readOnly passes on only requests that change nothing.
func readOnly(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			httpaccess.Refuse(w, http.StatusMethodNotAllowed, "method "+r.Method+": a page's key is for reading; accepted are GET and HEAD")
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
		Short: "Show the page of a node that runs in a browser of this machine",
		Long: `Show the page of a node that runs (run, serve or keep) in a browser of this machine. It
prints the page's link and serves the page until Ctrl-C, which the node does not notice.
Who has the link can read all that the node would tell its user, and change nothing.`,
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
			if _, ok, err := control.Tasks(ctx, dataDir); err != nil {
				return err
			} else if !ok {
				return errors.New("no node runs on data directory " + dataDir + ", so that there is nothing to show; history shows what has happened")
			}
			page, err := ServePage(ctx, address, ThroughSocket(filepath.Join(dataDir, control.Socket)))
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

// ThroughSocket returns a handler that asks the node of a socket. It forwards only the parts of a
// page's requests that the interface reads.
func ThroughSocket(path string) http.Handler {
	return &httputil.ReverseProxy{
		Transport: control.Client(path).Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "node"})
			r.Out.Host = "node"
			last := r.In.Header.Get("Last-Event-ID")
			r.Out.Header = http.Header{"Accept": r.In.Header["Accept"]}
			if last != "" {
				r.Out.Header.Set("Last-Event-ID", last)
			}
		},
		ErrorLog: quietLog(),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			httpaccess.Refuse(w, http.StatusServiceUnavailable, "the node does not answer: it has ended, or is ending")
		},
	}
}
