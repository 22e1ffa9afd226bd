package httpaccess

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const token = "abcdefghijklmnopqrstuvwxyz"

func answer(g Policy, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "http://127.0.0.1:7070/v1", strings.NewReader("0123456789"))
	r.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})).ServeHTTP(w, r)
	return w
}

func TestWhoMayAsk(t *testing.T) {
	g := Policy{Token: token, CheckHost: true, Hosts: []string{"tuner.example"}, Origins: []string{"https://board.example"}, MaxBody: 10}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		what   string
		change func(*http.Request)
		status int
		detail string
	}{
		{"all is well", nil, 200, ""},
		{"the scheme in lower case", header("Authorization", "bearer "+token), 200, ""},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401, "Authorization"},
		{"an empty token", header("Authorization", "Bearer "), 401, "Authorization"},
		{"a wrong token", header("Authorization", "Bearer "+token+"x"), 401, "Authorization"},
		{"another scheme", header("Authorization", "Basic "+token), 401, "Authorization"},
		{"localhost", host("localhost:7070"), 200, ""},
		{"an address", host("192.0.2.1"), 200, ""},
		{"an address of version 6", host("[::1]:7070"), 200, ""},
		{"a bare address of version 6", host("[::1]"), 200, ""},
		{"a name of the user", host("Tuner.example:443"), 200, ""},
		{"a foreign name", host("evil.example:7070"), 421, "evil.example"},
		{"a name that begins like one", host("localhost.evil.example"), 421, "evil.example"},
		{"no host", host(""), 421, "Host"},
		{"an origin of the user", header("Origin", "https://board.example"), 200, ""},
		{"a foreign origin", header("Origin", "https://evil.example"), 403, "evil.example"},
		{"no origin", header("Origin", "null"), 403, "null"},
		{"a large body", func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("0123456789x")) }, 413, ""},
	} {
		w := answer(g, c.change)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.detail) {
			t.Errorf("%s: %d %s", c.what, w.Code, w.Body)
		}
		var p Problem
		if c.detail != "" && (w.Header().Get("Content-Type") != "application/problem+json" || json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Status != c.status) {
			t.Errorf("%s: no problem: %v %s", c.what, w.Header(), w.Body)
		}
		if strings.Contains(w.Body.String(), token) {
			t.Errorf("%s: the token is told", c.what)
		}
	}
}

func TestOriginsAreAnsweredWithoutAToken(t *testing.T) {
	g := Policy{Token: token, Origins: []string{"https://board.example"}}
	ask := func(origin string) *httptest.ResponseRecorder {
		return answer(g, func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header.Del("Authorization")
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
		})
	}
	if w := ask("https://board.example"); w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "https://board.example" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := ask("https://evil.example"); w.Code != 403 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := ask(""); w.Code != 401 {
		t.Errorf("%d", w.Code)
	}
}

// Requests without the token use up neither the rate nor the bodies of clients that have it.
func TestStrangersUseUpNothingOfClients(t *testing.T) {
	const body = 2 * freeBody
	status := func(h http.Handler, path, bearer string) int {
		r := httptest.NewRequest("GET", path, strings.NewReader(strings.Repeat("0", body)))
		r.Header.Set("Authorization", "Bearer "+bearer)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	rated := Policy{Token: token, Rate: 0.001, Burst: 2}.Protect(http.NotFoundHandler())
	for i, want := range []int{401, 401, 429} {
		if code := status(rated, "/", "guess"); code != want {
			t.Errorf("stranger's request %d: %d, expected %d", i+1, code, want)
		}
	}
	for i, want := range []int{404, 404, 429} {
		if code := status(rated, "/", token); code != want {
			t.Errorf("client's request %d: %d, expected %d", i+1, code, want)
		}
	}

	budget := NewBudget(body)
	weighed := Policy{Token: token, Public: []string{"/live"}, MaxBody: body, Bodies: budget}.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if free := budget.bytes.TryAcquire(body); free != (r.URL.Path == "/live") {
			t.Errorf("%s: the budget is free: %v", r.URL.Path, free)
		} else if free {
			budget.bytes.Release(body)
		}
	}))
	for path, bearer := range map[string]string{"/live": "guess", "/": token} {
		if code := status(weighed, path, bearer); code != 200 {
			t.Errorf("%s: %d, expected 200", path, code)
		}
	}
}

func TestPolicyLimitsRate(t *testing.T) {
	limited := Policy{Rate: 0.001, Burst: 2}.Protect(http.NotFoundHandler())
	for i, want := range []int{404, 404, 429} {
		w := httptest.NewRecorder()
		limited.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.Code != want || want == 429 && w.Header().Get("Retry-After") == "" {
			t.Errorf("request %d: %d %v", i+1, w.Code, w.Header())
		}
	}
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	busy := Policy{MaxOpen: 1}.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-leave
	}))
	go func() {
		busy.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		close(left)
	}()
	<-entered
	w := httptest.NewRecorder()
	busy.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 503 {
		t.Errorf("a second one at once: %d", w.Code)
	}
	close(leave)
	<-left
	go func() { <-entered }()
	w = httptest.NewRecorder()
	busy.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 200 {
		t.Errorf("after it: %d", w.Code)
	}
}
