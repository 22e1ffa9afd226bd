package run

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/httpaccess"
)

const metricsPath = "/metrics"

// checkMetricsAddress returns an error for an invalid address before anything is started; empty
// means no metrics.
func checkMetricsAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return base.Usagef("--metrics %q: expected a host and a port such as 127.0.0.1:9464, or :9464 for every interface", address)
	}
	return nil
}

// metricsServer answers scrapes of one process.
type metricsServer struct {
	registry *prometheus.Registry
	listener net.Listener
	server   *http.Server
}

// serveMetrics answers at the address until close is called.
func serveMetrics(address string) (*metricsServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w", address, err)
	}
	m := &metricsServer{registry: prometheus.NewRegistry(), listener: listener}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: 4, // clients that can reach the port must not slow the node down
		Timeout:             10 * time.Second,
	}))
	// A port of the loopback interface has no other name. A web page whose name resolves to this
	// machine has one, and is refused. Scrapers on other machines may use any name.
	local, _ := httpaccess.CheckAddress(address) // an error is that of an address of all interfaces
	supervisor := httpaccess.Policy{CheckHost: local}
	m.server = &http.Server{Handler: supervisor.Protect(mux), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: 2 * time.Minute}
	go m.server.Serve(listener) // ends with ErrServerClosed
	return m, nil
}

// url returns the address of the metrics, with the actual port for port 0.
func (m *metricsServer) url() string { return "http://" + m.listener.Addr().String() + metricsPath }

func (m *metricsServer) close() { m.server.Close() }
