package run

import (
	"net/http"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/httpapi"
	"github.com/fbo-node/fbo/internal/trialserver"
)

// serveControl answers requests about the task of a session, and requests for its trials, until
// stop is called. Without the socket, only these requests are impossible.
func serveControl(dir string, api http.Handler) (stop func(), err error) {
	return serveSocket(filepath.Join(dir, control.Socket), limits(defaultRateLimit).Protect(api))
}

// apiOf returns the HTTP interface of a trial server; untilUnused is that of serve.
func apiOf(d *trialserver.Server, lease time.Duration, untilUnused bool, show *display) http.Handler {
	return httpapi.New(d, httpapi.Options{
		Version: base.Version(), Lease: lease, UntilUnused: untilUnused, Printed: printed(d.Node().Dir), Warnings: show.Warnings,
	})
}

// serveSocket answers requests until stop is called.
func serveSocket(path string, handler http.Handler) (stop func(), err error) {
	listener, err := httpaccess.ListenSocket(path)
	if err != nil {
		return nil, err
	}
	server := httpaccess.NewServer(handler, quietLog())
	go server.Serve(listener) // ends with ErrServerClosed
	return func() { server.Close() }, nil
}
