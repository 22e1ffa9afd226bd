//go:build unix

package run

import (
	"os"
	"testing"
)

// The clients of the socket and of the port share one budget of bodies.
func TestListenersShareBodies(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "fbo") // short: the name of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w, err := webOptions{address: "127.0.0.1:0", rateLimit: defaultRateLimit}.listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range w.doors {
		defer d.listener.Close()
	}
	if len(w.doors) != 2 || w.doors[0].policy.Bodies == nil || w.doors[0].policy.Bodies != w.doors[1].policy.Bodies {
		t.Errorf("%d listeners, expected 2 with one budget", len(w.doors))
	}
	if socket, port := w.doors[0].policy.Token, w.doors[1].policy.Token; socket != "" || port == "" {
		t.Errorf("tokens of %d characters at the socket and %d at the port, expected none and one", len(socket), len(port))
	}
}
