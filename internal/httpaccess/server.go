package httpaccess

import (
	"log"
	"net/http"
	"time"
)

// Timeouts of a server. The write timeout counts from the request and allows for asks that wait; a
// stream sets its own.
const (
	writeTimeout  = 5 * time.Minute
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10 // bytes
)

// NewServer returns a server with timeouts; it writes errors of connections to log.
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
