package protocol

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// codec is the encoder and the decoder of one kind of payload.
type codec[T any] struct {
	encode func(T) ([]byte, error)
	decode func([]byte) (T, error)
}

// codecIn returns the codec of a kind of payload that depends on the space alone.
func codecIn[T any](space *task.Space, encode func(T, *task.Space) ([]byte, error), decode func([]byte, *task.Space) (T, error)) codec[T] {
	return codec[T]{
		func(v T) ([]byte, error) { return encode(v, space) },
		func(data []byte) (T, error) { return decode(data, space) },
	}
}

func (c codec[T]) encoded(t fbotest.TB, v T) []byte {
	t.Helper()
	data, err := c.encode(v)
	if err != nil {
		t.Fatalf("%+v: %v", v, err)
	}
	return data
}

// survives fails unless the value is the same after encoding and decoding.
func (c codec[T]) survives(t fbotest.TB, want T) {
	t.Helper()
	if got, err := c.decode(c.encoded(t, want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
}

// malformed reports bytes that the decoder does not refuse as malformed.
func (c codec[T]) malformed(t *testing.T, name string, data []byte) {
	t.Helper()
	if got, err := c.decode(data); !errors.Is(err, ErrMalformed) {
		t.Errorf("%s: %+v, %v", name, got, err)
	}
}

// unsendable reports a value that the encoder does not refuse.
func (c codec[T]) unsendable(t *testing.T, name string, v T) {
	t.Helper()
	if _, err := c.encode(v); err == nil {
		t.Errorf("%s: %+v was encoded", name, v)
	}
}

// judges reports a message that the decoder accepts, or its value v that the encoder accepts, if ok is
// false. If ok is true it reports a message that does not decode to v, and a v that is refused.
func (c codec[T]) judges(t *testing.T, name string, m proto.Message, v T, ok bool) {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		c.malformed(t, name, data)
		c.unsendable(t, name, v)
		return
	}
	if got, err := c.decode(data); err != nil || !reflect.DeepEqual(got, v) {
		t.Errorf("%s: %+v, %v; want %+v", name, got, err, v)
	}
	if _, err := c.encode(v); err != nil {
		t.Errorf("%s: encode: %v", name, err)
	}
}

// refusesDamage fails unless the example survives, and is malformed when it is damaged or has more
// than limit bytes. around returns the message of a payload with a point, which is malformed with
// each wrong point; it is nil for payloads without points.
func (c codec[T]) refusesDamage(t *testing.T, example T, limit int, around func(*pb.Point) proto.Message) {
	t.Helper()
	c.survives(t, example)
	payload := c.encoded(t, example)
	for name, data := range map[string][]byte{
		"nothing":        {},
		"garbage":        {0xff, 0xff, 0xff},
		"cut in a field": payload[:len(payload)-1],
		"only the start": payload[:3],
		"a wrong type":   protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "one"),
		"a wrong end":    append(slices.Clone(payload), 0x12),
	} {
		c.malformed(t, name, data)
	}
	if _, err := c.decode(ballast(t, payload, limit)); err != nil {
		t.Errorf("%d bytes: %v", limit, err)
	}
	for _, size := range []int{limit + 1, limit + 1000, MaxEnvelopeBytes} {
		c.malformed(t, fmt.Sprintf("%d bytes", size), ballast(t, payload, size))
	}
	if around == nil {
		return
	}
	for name, p := range pointsThatAreRefused() {
		data, err := proto.Marshal(around(p))
		if err != nil {
			t.Fatal(err)
		}
		c.malformed(t, name, data)
	}
}

// fuzz fails when the decoder accepts what cannot be sent again or differs then, or refuses with
// another error than ErrMalformed. The seeds are the example, parts of it, nothing, and more. use is
// called with each accepted value first.
func (c codec[T]) fuzz(f *testing.F, example T, use func(*testing.T, *T), more ...[]byte) {
	f.Helper()
	data := c.encoded(f, example)
	for _, seed := range append(more, data, data[:min(9, len(data))], data[:len(data)/2], []byte{}) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := c.decode(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error %v is not ErrMalformed", err)
			}
			return
		}
		if use != nil {
			use(t, &v)
		}
		c.survives(t, v)
	})
}
