package httpaccess

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/time/rate"
)

// Policy holds the conditions and limits for requests. A field with its zero value is not checked.
type Policy struct {
	Token     string   // required of all requests except those to Public
	Public    []string // paths that need no token, such as health checks
	CheckHost bool     // the Host header must be an IP address, localhost or one of Hosts
	Hosts     []string // further host names of the node
	Origins   []string // origins of web pages that may send requests
	Own       bool     // pages from the node's own HTTP origin may send requests; needs CheckHost

	MaxBody int64   // maximum bytes of a body
	Bodies  *Budget // limit on all concurrent bodies together; nil: none
	Rate    float64 // requests per second, on average; requests without the token have the same rate of their own
	Burst   int     // number of requests that may follow each other directly after a pause
	MaxOpen int     // maximum number of concurrent requests
}

// Protect returns a handler that applies the policy, and calls next for accepted requests.
func (g Policy) Protect(next http.Handler) http.Handler {
	p := &protected{policy: g, next: next, token: sha256.Sum256([]byte(g.Token))}
	if g.Rate > 0 {
		p.clients = rate.NewLimiter(rate.Limit(g.Rate), max(g.Burst, 1))
		p.unauthenticated = rate.NewLimiter(rate.Limit(g.Rate), max(g.Burst, 1))
	}
	if g.MaxOpen > 0 {
		p.open = make(chan struct{}, g.MaxOpen)
	}
	return p
}

type protected struct {
	policy          Policy
	next            http.Handler
	token           [sha256.Size]byte
	clients         *rate.Limiter
	unauthenticated *rate.Limiter // for requests without the token, so that they cannot use up the rate of clients
	open            chan struct{}
}

func (p *protected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if p.policy.CheckHost && !acceptsHost(r.Host, p.policy.Hosts) {
		Refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("header Host: %.100q is not this node; expected addresses, localhost and the names that the node was started with", r.Host))
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && !(p.policy.Own && origin == "http://"+r.Host) {
		if !slices.Contains(p.policy.Origins, origin) {
			Refuse(w, http.StatusForbidden, fmt.Sprintf("header Origin: %.100q may not ask this node; expected the origins that the node was started with", origin))
			return
		}
		p.allowOrigin(w, origin)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	bears := p.policy.Token == "" || p.bears(r)
	limiter := p.unauthenticated // this also limits attempts to guess the token
	if bears {
		limiter = p.clients
	}
	if limiter != nil && !limiter.Allow() {
		w.Header().Set("Retry-After", "1")
		Refuse(w, http.StatusTooManyRequests, fmt.Sprintf("more than %g requests a second", p.policy.Rate))
		return
	}
	if !bears && !slices.Contains(p.policy.Public, r.URL.Path) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="fbo-node"`)
		w.Header().Set("Connection", "close") // close the connection to a client without the token
		Refuse(w, http.StatusUnauthorized, "header Authorization: expected `Bearer TOKEN` with the token of this node")
		return
	}
	if p.policy.Token != "" && bears && !prove(r.Context()) {
		w.Header().Set("Connection", "close")
		Refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d connections are open, which is the most", maxProven))
		return
	}
	if p.open != nil {
		select {
		case p.open <- struct{}{}:
			defer func() { <-p.open }()
		default:
			w.Header().Set("Retry-After", "1")
			Refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d requests are under way, which is the most", p.policy.MaxOpen))
			return
		}
	}
	if p.policy.MaxBody > 0 {
		r.Body = http.MaxBytesReader(w, r.Body, p.policy.MaxBody)
	}
	if b := p.policy.Bodies; b != nil && bears { // requests without the token need no body
		done, err := b.admit(r, p.policy.MaxBody)
		if err != nil {
			return // the client has closed the connection
		}
		defer done()
	}
	p.next.ServeHTTP(w, r)
}

// Bears reports whether a request has the policy's token, which must not be empty.
func (g Policy) Bears(r *http.Request) bool {
	p := &protected{token: sha256.Sum256([]byte(g.Token))}
	return g.Token != "" && p.bears(r)
}

// bears reports whether a request has the token. It compares hashes in constant time, so that the
// duration discloses nothing about the token.
func (p *protected) bears(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(token))
	return ok && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], p.token[:]) == 1
}

// allowOrigin sets the headers that allow a web page to read the response.
func (p *protected) allowOrigin(w http.ResponseWriter, origin string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
}

// acceptsHost reports whether a Host header is an IP address, localhost, or one of the given names.
// DNS cannot redirect the first two.
func acceptsHost(given string, names []string) bool {
	host := given
	if name, _, err := net.SplitHostPort(given); err == nil {
		host = name
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil && ip.Zone() == "" {
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(host, name) })
}

// Problem is the body of a refusal (RFC 9457).
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Refuse writes a refusal as the response.
func Refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	// An error means that the client has closed the connection.
	_ = json.NewEncoder(w).Encode(Problem{http.StatusText(status), status, detail})
}
