package httpaccess

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// noRoute is the label of requests that reach no operation, because a policy refuses them or their
// path is unknown.
const noRoute = "none"

// Counter counts the answered requests by route, method and status. A nil *Counter counts nothing.
type Counter struct{ requests *prometheus.CounterVec }

// NewCounter creates a counter and registers it.
func NewCounter(registerer prometheus.Registerer) (*Counter, error) {
	c := &Counter{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fbo_http_requests_total", Help: "HTTP requests that were answered; a stream of events is one when it ends.",
	}, []string{"route", "method", "code"})}
	return c, registerer.Register(c.requests)
}

// Count returns a handler that counts the requests to next. A route is a pattern of http.ServeMux
// and not a path, so that clients cannot create any number of labels.
func (c *Counter) Count(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return promhttp.InstrumentHandlerCounter(c.requests, next, promhttp.WithLabelFromRequest("route", routeOf))
}

// routeOf returns the pattern of a request, without the method.
func routeOf(r *http.Request) string {
	if r.Pattern == "" {
		return noRoute
	}
	return r.Pattern[strings.Index(r.Pattern, "/"):]
}
