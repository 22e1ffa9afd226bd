package httpaccess

import (
	"log"
	"net/http"
	"time"
)

// Timeouts of a server. The write timeout begins with the request and must allow for requests that
// wait for a trial. Streams set their own.
const (
	writeTimeout  = 5 * time.Minute
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10 // bytes
)

// NewServer returns a server with timeouts. It writes errors of connections to log.
func NewServer(handler http.Handler, log *log.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log,
	}
}
