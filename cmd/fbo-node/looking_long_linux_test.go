//go:build long && linux

package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLongReadsOfManyTrials sends a node with 10,000 trials each reading request 20 times, with and
// without a peer that shares. None takes more than 150 MB, but for recommendations with a peer.
func TestLongReadsOfManyTrials(t *testing.T) {
	const trials, times, most = 10_000, 20, 150.0 // most: MB
	dir, other := shortTempDir(t), shortTempDir(t)
	p, serving := startServe(t, dir, "--metrics", "127.0.0.1:0")
	metrics := p.await(t, "the address of the metrics", isEvent("metrics_served")).URL
	client := socketClient(dir)
	const text = `name: many
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: n, type: int, low: 1, high: 1000, scale: log}
  - {name: k, type: categorical, choices: [a, b, c]}
surrogate: {type: rff}
`
	id := taskIDOf(t, mustRequest(t, 201, client, "POST", "/v1/tasks", object{"text": text}))
	mustRequest(t, 200, client, "POST", "/v1/tasks/many/import", object{"trials": manyTrials(trials, 0)})
	printed := filepath.Join(dir, "trials", id)
	if err := os.MkdirAll(printed, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trial-1.log", "trial-1.log.1", "trial-1.log.2", "trial-1.log.3"} {
		if err := os.WriteFile(filepath.Join(printed, name), []byte(strings.Repeat("a line\n", 256<<10/7)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	routes := append(readingRoutes(t, client), "/v1/tasks/many/trials?limit=1000&after=5000", "/v1/tasks/many/trials?client=nobody", "/v1/tasks/many/trials/9999")
	read := func(when string) {
		t.Helper()
		for _, route := range append(routes, metrics) {
			before := residentMB(t, p.command.Process.Pid)
			highest := before
			for range times {
				if route == metrics {
					if code, body := fetch(t, metrics); code != http.StatusOK {
						t.Fatalf("metrics: %d %s", code, body)
					}
				} else {
					mustRequest(t, 200, client, "GET", route, nil)
				}
				highest = max(highest, residentMB(t, p.command.Process.Pid))
			}
			if highest > before+most {
				t.Errorf("%s, GET %s: %.0f MB resident before, up to %.0f MB after %d requests", when, route, before, highest, times)
			}
		}
	}
	read("alone")

	startServe(t, other, "--peer", serving.Addresses[0])
	elsewhere := socketClient(other)
	mustRequest(t, 201, elsewhere, "POST", "/v1/tasks", object{"text": text})
	mustRequest(t, 200, elsewhere, "POST", "/v1/tasks/many/import", object{"trials": manyTrials(30, 1)})
	for begun := time.Now(); !strings.Contains(string(mustRequest(t, 200, client, "GET", "/v1/tasks/many/contributions", nil)), `"weight":`); {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("the peer's share has not come within two minutes")
		}
		time.Sleep(100 * time.Millisecond)
	}
	// With a peer a recommendation takes as long as a suggestion, whose cost grows with the cube of
	// the results.
	routes = slices.DeleteFunc(routes, func(route string) bool { return strings.HasSuffix(route, "/recommendation") })
	read("with a peer")
}

// readingRoutes returns a request of each route of the description that only reads, but for streams
// of events, which do not end.
func readingRoutes(t *testing.T, client *http.Client) (routes []string) {
	t.Helper()
	var described struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
			}
		}
	}
	decode(t, string(mustRequest(t, http.StatusOK, client, "GET", "/v1/openapi.json", nil)), &described)
	values := map[string]string{"task": "many", "trial": "1", "x": "x", "y": "n", "format": "csv"}
	for path, operations := range described.Paths {
		of, ok := operations["get"]
		if !ok || strings.HasSuffix(path, "/events") {
			continue
		}
		query := "?"
		for _, p := range of.Parameters {
			switch value, known := values[p.Name]; {
			case p.In == "path":
				path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
			case p.Required && !known:
				t.Fatalf("%s needs %s, of which this test has no value", path, p.Name)
			case p.Required:
				query += p.Name + "=" + value + "&"
			}
		}
		routes = append(routes, path+strings.TrimRight(query, "?&"))
	}
	return append(routes, "/v1/tasks/many/export?format=json", "/v1/openapi.json")
}

// manyTrials are outcomes of a bowl over x.
func manyTrials(count, seed int) (all []object) {
	for i := range count {
		x, n := float64((i*7919+seed)%4001)/1000-2, i%1000+1
		all = append(all, object{
			"parameters": object{"x": x, "n": n, "k": string(rune('a' + i%3))},
			"outcome":    object{"value": x*x + float64(n)/1000},
		})
	}
	return all
}

func taskIDOf(t *testing.T, answer []byte) string {
	t.Helper()
	var body struct{ ID string }
	if err := json.Unmarshal(answer, &body); err != nil || body.ID == "" {
		t.Fatal(fmt.Errorf("no ID in %s: %w", answer, err))
	}
	return body.ID
}
