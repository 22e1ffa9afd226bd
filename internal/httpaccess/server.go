package httpaccess

import (
	"log"
	"net/http"
	"time"
)

// Timeouts of a server. That of writing counts from the request, and an ask may wait; a
// stream sets its own.
const (
	writeTimeout  = 5 * time.Minute
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10 // bytes
)

// NewServer is a server that waits for nobody for long; errors of connections go to log.
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
