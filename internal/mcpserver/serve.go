package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxMessage is the maximum size of a message in bytes. It leaves room for a task file of the maximum size
// with every character escaped.
const MaxMessage = 1 << 20

// Serve answers the messages of one client, a line each, until the input or the context ends.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	w := &lockedWriter{out: out}
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(newMessages(in, w)), Writer: w, MaxLineLength: 2 * MaxMessage})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lockedWriter serialises messages of the server with errors of messages. Each Write is one message.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close does nothing: the owner of the output closes it.
func (w *lockedWriter) Close() error { return nil }

// messages passes on the well-formed messages of an input, a line each. The SDK would end the connection at
// a malformed one; messages answers it with an error instead.
type messages struct {
	in      *bufio.Reader
	refused io.Writer
	pending []byte // rest of a message that is not passed on yet
}

func newMessages(in io.Reader, refused io.Writer) *messages {
	return &messages{in: bufio.NewReader(in), refused: refused}
}

// Read reads a part of a message.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.pending) == 0 {
		line, tooLong, err := m.line()
		line = bytes.TrimSpace(line)
		switch {
		case tooLong:
			m.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message exceeds %d bytes", MaxMessage))
		case len(line) > 0:
			if code, problem := check(line); problem != "" {
				m.refuse(code, problem)
				break
			}
			m.pending = append(line, '\n')
		}
		if err != nil && len(m.pending) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.pending)
	m.pending = m.pending[n:]
	return n, nil
}

// line reads a line, of which it keeps at most MaxMessage bytes.
func (m *messages) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := m.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > MaxMessage; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// check returns the error of a malformed message.
func check(line []byte) (code int64, problem string) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, "the message is not JSON; expected one JSON-RPC message per line"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil || line[0] != '{' {
		return jsonrpc.CodeInvalidRequest, "the message is no JSON-RPC 2.0 request, notification or response; batches are not accepted"
	}
	return 0, ""
}

// refuse answers a message whose ID is unknown.
func (m *messages) refuse(code int64, problem string) {
	answer, err := json.Marshal(object{"jsonrpc": "2.0", "id": nil, "error": object{"code": code, "message": problem}})
	if err == nil {
		_, _ = m.refused.Write(append(answer, '\n')) // an error means that the client has ended
	}
}
