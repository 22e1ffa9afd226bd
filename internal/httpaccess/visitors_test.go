package httpaccess

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// authenticatedPort is a port that answers those who have the token.
func authenticatedPort(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	policy := Policy{Token: testToken, CheckHost: true, Public: []string{"/public"}}
	server := NewServer(policy.Protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "answer") })), log.New(io.Discard, "", 0))
	go server.Serve(KeepOut(server, listener))
	t.Cleanup(func() { server.Close() })
	return listener.Addr().String()
}

const testToken = "12345678901234567890"

func askWithToken(t *testing.T, client *http.Client, address string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "answer" {
		t.Fatalf("%d %s, %v", response.StatusCode, text, err)
	}
}

// Strangers hold 1,100 connections, silent ones and ones that have been refused, and open them again when they
// are closed. A client with the token is answered each time, and keeps its connection.
func TestStrangersDoNotOccupyThePort(t *testing.T) {
	address := authenticatedPort(t)
	const unauthenticated = 1100
	ended := make(chan struct{})
	var standing, visiting sync.WaitGroup
	standing.Add(unauthenticated)
	for i := range unauthenticated {
		visiting.Go(func() {
			for first := true; ; first = false {
				conn, err := net.Dial("tcp", address)
				if err == nil && i%2 == 0 {
					fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", address)
				}
				if first {
					standing.Done()
				}
				if err != nil {
					return
				}
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					io.Copy(io.Discard, conn) // until it is closed
				}()
				select {
				case <-gone:
					conn.Close()
				case <-ended:
					conn.Close()
					<-gone
					return
				}
				select {
				case <-time.After(time.Second):
				case <-ended:
					return
				}
			}
		})
	}
	standing.Wait()
	kept := &http.Client{Transport: &http.Transport{}}
	for range 20 {
		askWithToken(t, kept, address)
		fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		askWithToken(t, fresh, address)
	}
	kept.CloseIdleConnections()
	close(ended)
	visiting.Wait()
}

// A refused stranger's connection is closed, and a public path needs no token.
func TestRefusedConnectionsAreClosed(t *testing.T) {
	address := authenticatedPort(t)
	for path, want := range map[string]int{"/": http.StatusUnauthorized, "/public": http.StatusOK} {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != want || response.Close != (want == http.StatusUnauthorized) {
			t.Errorf("%s: %d, closed %t", path, response.StatusCode, response.Close)
		}
	}
}

// The counts of connections return to nothing when they end.
func TestVisitorsAreForgotten(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(nil, nil)
	watched := KeepOut(server, listener).(*visited)
	defer watched.Close()
	for range 3 {
		if _, err := net.Dial("tcp", listener.Addr().String()); err != nil {
			t.Fatal(err)
		}
		conn, err := watched.Accept()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // of two requests
			if !conn.(*visitor).prove() || watched.visitors.proven != 1 || watched.visitors.unauthenticated.Len() != 0 {
				t.Fatalf("a proven connection: %+v", watched.visitors)
			}
		}
		conn.Close()
		conn.Close()
		if watched.visitors.proven != 0 || len(watched.visitors.ofHost) != 0 {
			t.Fatalf("after the end: %+v", watched.visitors)
		}
	}
}
