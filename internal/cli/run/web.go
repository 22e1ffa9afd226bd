package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/httpapi"
)

// tokenFile in the data directory contains the token for programs that use the port.
const tokenFile = "http.token"

// Limits of HTTP requests, in addition to those of the interface itself.
const (
	defaultRateLimit = 2000     // requests per second
	maxOpen          = 1024     // concurrent requests
	maxBody          = 33 << 20 // bytes; the interface has lower ones for most requests
	maxBodies        = 40 << 20 // bytes of concurrent bodies above 64 KiB
	endPatience      = 2 * time.Second
)

// webOptions are the flags about HTTP.
type webOptions struct {
	address   string
	hosts     []string
	origins   []string
	cert      string
	key       string
	rateLimit float64
	vizier    vizierOptions
}

func (o *webOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.address, "http", "", "address to serve HTTP at too, such as 127.0.0.1:7070, for programs that have the token (default: only the socket)")
	flags.StringArrayVar(&o.hosts, "http-host", nil, "host name that requests to --http and --vizier-token may name, besides addresses and localhost, repeatable")
	flags.StringArrayVar(&o.origins, "origin", nil, "origin of web pages that may ask, such as https://board.example, repeatable (default: none)")
	flags.StringVar(&o.cert, "tls-cert", "", "file with the certificate for --http and --vizier-token, in PEM")
	flags.StringVar(&o.key, "tls-key", "", "file with its key")
	o.vizier.add(flags)
	flags.Float64Var(&o.rateLimit, "rate-limit", defaultRateLimit, "requests a second that are answered")
}

func (o webOptions) validate() error {
	for _, origin := range o.origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return base.Usagef("--origin %q: expected a scheme and a host, such as https://board.example", origin)
		}
	}
	if !(o.rateLimit > 0) {
		return base.Usagef("--rate-limit %g: expected positive numbers", o.rateLimit)
	}
	if err := o.vizier.validate(); err != nil {
		return err
	}
	if o.address == "" && ((o.cert != "" || o.key != "" || len(o.hosts) > 0) && !o.vizier.token || len(o.origins) > 0) {
		return base.Usagef("--tls-cert, --tls-key, --http-host and --origin are about --http, which is missing")
	}
	if (o.cert == "") != (o.key == "") {
		return base.Usagef("--tls-cert and --tls-key belong together; one of them is missing")
	}
	if o.address == "" {
		return nil
	}
	if _, err := httpaccess.CheckAddress(o.address); err != nil {
		return base.Usagef("--http %w", err)
	}
	return nil
}

// tls returns the settings for connections with these protocols; nil without a certificate.
func (o webOptions) tls(protocols ...string) (*tls.Config, error) {
	if o.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, base.Usagef("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: protocols}, nil
}

// limits returns the limits of each listener; copies of one policy share a budget of bodies. A body
// takes several times its size in memory.
func limits(rate float64) httpaccess.Policy {
	return httpaccess.Policy{MaxBody: maxBody, Bodies: httpaccess.NewBudget(maxBodies), Rate: rate, Burst: int(min(2*rate+1, 1e6)), MaxOpen: maxOpen}
}

// web holds the listeners of serve.
type web struct {
	socket   string // its path; empty without one
	url      string // of the port; empty without one
	warnings []string

	doors   []door
	servers []*http.Server
}

type door struct {
	listener net.Listener
	policy   httpaccess.Policy
	secure   *tls.Config // nil without TLS

	protocols *http.Protocols // nil: HTTP/1
}

// listen opens the socket and, if asked for, the port. A system without Unix sockets needs
// the port.
func (o webOptions) listen(dir string) (w *web, err error) {
	w = &web{}
	defer func() {
		if err != nil {
			for _, d := range w.doors {
				d.listener.Close()
			}
		}
	}()
	policy := limits(o.rateLimit)
	path := filepath.Join(dir, control.Socket)
	socket, err := httpaccess.ListenSocket(path)
	switch {
	case err == nil:
		w.socket, w.doors = path, append(w.doors, door{socket, policy, nil, nil})
	case o.address == "":
		return nil, fmt.Errorf("the socket %s cannot be made: %w; --http 127.0.0.1:7070 serves at a port instead", path, err)
	default:
		w.warnings = append(w.warnings, fmt.Sprintf("status and history cannot be asked for while this node runs: %v", err))
	}
	if o.address == "" {
		return w, nil
	}
	return w, o.listenPort(dir, policy, w)
}

// listenPort opens the port with the policy of the socket, so that both have one budget of bodies.
func (o webOptions) listenPort(dir string, policy httpaccess.Policy, w *web) error {
	policy.CheckHost, policy.Hosts, policy.Origins = true, o.hosts, o.origins
	policy.Public = []string{httpapi.LivePath, httpapi.ReadyPath}
	token, err := httpaccess.LoadToken(filepath.Join(dir, tokenFile))
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	policy.Token = token
	secure, err := o.tls("http/1.1")
	if err != nil {
		return err
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return fmt.Errorf("--http %s: %w", o.address, err)
	}
	w.url = scheme + "://" + listener.Addr().String()
	w.doors = append(w.doors, door{listener, policy, secure, nil})
	if local, _ := httpaccess.CheckAddress(o.address); !local && secure == nil { // it was checked before
		w.warnings = append(w.warnings, fmt.Sprintf("%s can be reached from other machines, and without --tls-cert the token and all else can be read on the way", w.url))
	}
	return nil
}

// serve answers until close; failed reports if a listener ends before.
func (w *web) serve(ctx context.Context, handler http.Handler, counter *httpaccess.Counter) (failed <-chan error) {
	ended := make(chan error, len(w.doors))
	for _, d := range w.doors {
		server := httpaccess.NewServer(counter.Count(d.policy.Protect(handler)), quietLog())
		server.Protocols = d.protocols
		listener := d.listener
		if d.policy.Token != "" {
			listener = httpaccess.KeepOut(server, listener)
		}
		if d.secure != nil {
			listener = tls.NewListener(listener, d.secure)
		}
		// Requests that wait for a trial end with this process.
		server.BaseContext = func(net.Listener) context.Context { return ctx }
		w.servers = append(w.servers, server)
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				ended <- err
			}
		}()
	}
	return ended
}

// close gives running requests a moment to end.
func (w *web) close() error {
	waiting, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	for _, server := range w.servers {
		if server.Shutdown(waiting) != nil {
			server.Close()
		}
	}
	return nil
}

// quietLog is for errors of connections, which matter only for debugging.
func quietLog() *log.Logger { return slog.NewLogLogger(base.LogHandler(), slog.LevelDebug) }
