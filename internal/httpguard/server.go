package httpguard

import (
	"log"
	"net/http"
	"time"
)

// Timeouts of a server. Writing has none here: an ask may wait, and a stream stays open.
// Handlers set their own.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10 // bytes
)

// NewServer is a server that waits for nobody for long; errors of connections go to log.
func NewServer(handler http.Handler, log *log.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log,
	}
}
