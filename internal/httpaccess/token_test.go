package httpaccess

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTheTokenIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	first, err := LoadToken(path)
	if err != nil || len(first) < minToken {
		t.Fatalf("%q, %v", first, err)
	}
	again, err := LoadToken(path)
	if err != nil || again != first {
		t.Errorf("%q and then %q, %v", first, again, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadToken(path); err == nil || !strings.Contains(err.Error(), "expected 0600") || strings.Contains(err.Error(), first) {
		t.Errorf("readable by others: %v", err)
	}
}

func FuzzParseToken(f *testing.F) {
	for _, text := range []string{"", token, token + "\n", " " + token + " ", "short", token + " x", strings.Repeat("a", maxToken+1), "ä" + token} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := parseToken(text)
		if err != nil {
			if parsed != "" || !strings.Contains(err.Error(), "expected") {
				t.Fatalf("%q: %q, %v", text, parsed, err)
			}
			return
		}
		if again, err := parseToken(parsed); err != nil || again != parsed || len(parsed) < minToken {
			t.Fatalf("%q became %q and %q, %v", text, parsed, again, err)
		}
	})
}

func FuzzAcceptsHost(f *testing.F) {
	for _, host := range []string{"", "localhost", "127.0.0.1:1", "[::1]:1", "::1", "[::1", "evil.example", "127.0.0.1.evil.example", "tuner.example:1"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if acceptsHost(host, nil) && strings.ContainsAny(host, "ghjkmnpqrtuvwxyz") && !strings.Contains(strings.ToLower(host), "localhost") {
			// Addresses have no such letters, and a port has none that is of use.
			if i := strings.LastIndex(host, ":"); i < 0 || strings.ContainsAny(host[:i], "ghjkmnpqrtuvwxyz") {
				t.Fatalf("%q is accepted", host)
			}
		}
	})
}

func TestCheckAddress(t *testing.T) {
	for address, want := range map[string]struct{ local, ok bool }{
		"127.0.0.1:7070": {true, true}, "localhost:0": {true, true}, "[::1]:80": {true, true}, "127.9.9.9:1": {true, true}, "[::ffff:127.0.0.1]:1": {true, true},
		"0.0.0.0:7070": {false, true}, "[::]:7070": {false, true}, "192.0.2.1:7070": {false, true},
		"7070": {}, ":7070": {}, "127.0.0.1": {}, "127.0.0.1:x": {}, "tuner.example:1": {}, "127.0.0.1:70000": {}, "": {},
	} {
		local, err := CheckAddress(address)
		if local != want.local || (err == nil) != want.ok || err != nil && !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: local %t, %v", address, local, err)
		}
	}
}
