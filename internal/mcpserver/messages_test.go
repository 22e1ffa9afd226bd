package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// pass returns the messages that are passed on, and the errors that the client gets.
func pass(t testing.TB, in io.Reader) (passed, refused []string) {
	t.Helper()
	var errors bytes.Buffer
	out, err := io.ReadAll(newMessages(in, &errors))
	if err != nil {
		t.Fatal(err)
	}
	return lines(string(out)), lines(errors.String())
}

func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}

func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, want string // want: part of the error
	}{
		{`{"jsonrpc":`, "-32700"},
		{`hello`, "not JSON"},
		{"\xff\xfe", "not JSON"},
		{`{} {}`, "not JSON"},
		{`[` + ping + `]`, "batches are not accepted"},
		{`{}`, "-32600"},
		{`7`, "-32600"},
		{`null`, "-32600"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", MaxMessage) + `"}}`, "exceeds 1048576 bytes"},
		{strings.Repeat("[", MaxMessage-1), "not JSON"},
	} {
		for _, in := range []io.Reader{
			strings.NewReader(c.line + "\n\r\n" + ping + "\n"),
			iotest.HalfReader(strings.NewReader(ping + "\n" + c.line)), // without an end of the last line
		} {
			passed, refused := pass(t, in)
			if len(passed) != 1 || passed[0] != ping || len(refused) != 1 || !strings.Contains(refused[0], c.want) {
				t.Errorf("%.60s: passed %.200q, refused %.200q; expected one of each, with %s", c.line, passed, refused, c.want)
			}
		}
	}
}

func TestMessageOfTheMaximumSize(t *testing.T) {
	t.Parallel()
	start, end := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`, `"}}`+"\n"
	text := start + strings.Repeat("x", MaxMessage-len(start)-len(end)) + end
	if passed, refused := pass(t, strings.NewReader(text)); len(passed) != 1 || passed[0]+"\n" != text || refused != nil {
		t.Errorf("passed %d, refused %q", len(passed), refused)
	}
}

// FuzzMessages checks that each line is either passed on as one message, or answered with one error.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(ping + "\n"))
	f.Add([]byte("{\n\n" + ping + "\r\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		passed, refused := pass(t, bytes.NewReader(data))
		given := 0
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) > 0 {
				given++
			}
		}
		if len(passed)+len(refused) != given {
			t.Errorf("%d lines: %d passed, %d refused", given, len(passed), len(refused))
		}
		for _, line := range append(passed, refused...) {
			if !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %q", line)
			}
		}
	})
}
