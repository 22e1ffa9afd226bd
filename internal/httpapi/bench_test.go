package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// BenchmarkAsk asks for trials in Go and over HTTP on a Unix socket in turns, with the
// guard of the daemon, and reports the medians. Both write the trial to the disk.
func BenchmarkAsk(b *testing.B) {
	if runtime.GOOS == "windows" {
		b.Skip("there may be no Unix sockets")
	}
	n := &node.Node{Strategies: all.Strategies(), Dir: b.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	d, err := trialserver.New(n, trialserver.Options{Strategies: all.Strategies(), Wait: -1})
	if err != nil {
		b.Fatal(err)
	}
	t, _, err := d.Create(b.Context(), trialserver.Order{Text: bowl}, "")
	if err != nil {
		b.Fatal(err)
	}
	listener, err := httpaccess.ListenSocket(filepath.Join(n.Dir, "s"))
	if err != nil {
		b.Fatal(err)
	}
	guard := httpaccess.Policy{Token: "abcdefghijklmnopqrstuvwxyz", MaxBody: 1 << 20, Rate: 1e6, Burst: 1e6, MaxOpen: 10}
	server := httpaccess.NewServer(guard.Protect(New(d, Options{})), nil)
	go server.Serve(listener) // ends with ErrServerClosed
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", listener.Addr().String())
	}}}
	ask := map[string]func() uint64{
		"go": func() uint64 {
			trial, err := t.Session().Clients().Ask(b.Context(), agent.Claim{Client: "go", Lease: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			return trial.ID
		},
		"http": func() uint64 {
			request, err := http.NewRequestWithContext(b.Context(), "POST", "http://node/v1/tasks/bowl/ask", bytes.NewReader([]byte(`{"client":"http"}`)))
			if err != nil {
				b.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+guard.Token)
			response, err := client.Do(request)
			if err != nil {
				b.Fatal(err)
			}
			defer response.Body.Close()
			data, err := io.ReadAll(response.Body)
			if err != nil {
				b.Fatal(err)
			}
			var answer trialsBody
			if err := json.Unmarshal(data, &answer); err != nil || len(answer.Trials) != 1 {
				b.Fatalf("%s, %v", data, err)
			}
			return answer.Trials[0].ID
		},
	}
	heat := (&Outcome{Constraints: map[string]reading{"heat": {}}}).strategy()
	took := map[string][]float64{}
	for b.Loop() {
		for _, way := range []string{"go", "http"} {
			began := time.Now()
			id := ask[way]()
			took[way] = append(took[way], time.Since(began).Seconds()*1000)
			if err := t.Session().TellOutcome(b.Context(), id, strategy.Outcome{Value: float64(id % 7), Constraints: heat.Constraints}); err != nil {
				b.Fatal(err)
			}
			if err := t.Session().Settle(b.Context()); err != nil { // so that no ask waits for a model
				b.Fatal(err)
			}
		}
	}
	for way, times := range took {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], "ms-in-"+way)
	}
	b.ReportMetric(took["http"][len(took["http"])/2]-took["go"][len(took["go"])/2], "ms-more")
	b.ReportMetric(0, "ns/op")
}
