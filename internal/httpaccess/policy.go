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

// Policy holds the conditions and limits of requests. The zero value of a field means no such
// check.
type Policy struct {
	Token     string   // required of requests, except at the paths of Public
	Public    []string // paths that need no token, such as health checks
	CheckHost bool     // the Host must be an address, localhost or one of Hosts
	Hosts     []string // further names of the node
	Origins   []string // of web pages that may send requests
	Own       bool     // pages of the same Host without TLS may send requests; needs CheckHost

	MaxBody int64   // bytes of a request
	Bodies  *Budget // limit of all concurrent bodies; nil: only MaxBody applies
	Rate    float64 // requests per second, on average: with the token, and as many without
	Burst   int     // requests at once after a pause
	MaxOpen int     // concurrent requests
}

// Protect returns a handler that applies the policy before next.
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
	unauthenticated *rate.Limiter // requests without the token, which cannot use up the rate of clients
	open            chan struct{}
}

func (p *protected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if p.policy.CheckHost && !acceptsHost(r.Host, p.policy.Hosts) {
		Refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("header Host: %.100q is not this node; accepted are addresses, localhost and the names that the node was started with", r.Host))
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && !(p.policy.Own && origin == "http://"+r.Host) {
		if !slices.Contains(p.policy.Origins, origin) {
			Refuse(w, http.StatusForbidden, fmt.Sprintf("header Origin: %.100q may not ask this node; accepted are the origins that the node was started with", origin))
			return
		}
		p.allowOrigin(w, origin)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	bears := p.policy.Token == "" || p.bears(r)
	limiter := p.unauthenticated // also of guesses
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
		w.Header().Set("Connection", "close") // a stranger keeps no connection
		Refuse(w, http.StatusUnauthorized, "header Authorization: accepted is `Bearer TOKEN` with the token of this node")
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
	if b := p.policy.Bodies; b != nil && bears { // public paths need no body
		done, err := b.admit(r, p.policy.MaxBody)
		if err != nil {
			return // the client has gone away
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

// bears compares digests, so that the duration discloses nothing about the token.
func (p *protected) bears(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(token))
	return ok && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], p.token[:]) == 1
}

// allowOrigin lets a page read the answer.
func (p *protected) allowOrigin(w http.ResponseWriter, origin string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
}

// acceptsHost accepts addresses and localhost, which no name server can redirect, and the user's
// names.
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

// Problem is a refusal in the form of RFC 9457.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Refuse answers with a problem.
func Refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	// An error means that the client has closed the connection.
	_ = json.NewEncoder(w).Encode(Problem{http.StatusText(status), status, detail})
}
