package httpaccess

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// noRoute is the label of requests that reach no operation: those that a policy refuses, and those
// for unknown paths.
const noRoute = "none"

// Counter counts answered requests by route, method and status. A nil Counter counts nothing.
type Counter struct{ requests *prometheus.CounterVec }

// NewCounter registers a counter.
func NewCounter(registerer prometheus.Registerer) (*Counter, error) {
	c := &Counter{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fbo_http_requests_total", Help: "HTTP requests that were answered; a stream of events is one when it ends.",
	}, []string{"route", "method", "code"})}
	return c, registerer.Register(c.requests)
}

// Count returns a handler that counts the requests to next. A route is a pattern of the
// http.ServeMux, so that clients cannot choose the number of routes.
func (c *Counter) Count(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return promhttp.InstrumentHandlerCounter(c.requests, next, promhttp.WithLabelFromRequest("route", routeOf))
}

// routeOf returns a pattern without its method.
func routeOf(r *http.Request) string {
	if r.Pattern == "" {
		return noRoute
	}
	return r.Pattern[strings.Index(r.Pattern, "/"):]
}
