package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func anyDirect(string, int) error { return nil }

func TestDirectArrivesAsItWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Direct{
			Exchange: string(rapid.SliceOfN(rapid.Byte(), 1, MaxKindBytes).Draw(t, "exchange")),
			Data:     rapid.SliceOfN(rapid.Byte(), 0, 500).Draw(t, "data"),
		}
		var wire bytes.Buffer
		if err := WriteDirect(&wire, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadDirect(iotest.OneByteReader(&wire), func(exchange string, bytes int) error {
			if exchange != want.Exchange || bytes != len(want.Data) {
				t.Fatalf("asked about %d bytes for %q", bytes, exchange)
			}
			return nil
		})
		if err != nil || got.Exchange != want.Exchange || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
}

func TestLimitsOfDirect(t *testing.T) {
	long := strings.Repeat("n", MaxKindBytes)
	largest := bytes.Repeat([]byte{7}, MaxDirectBytes)
	var wire bytes.Buffer
	if err := WriteDirect(&wire, Direct{long, largest}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadDirect(&wire, anyDirect); err != nil || got.Exchange != long || !bytes.Equal(got.Data, largest) {
		t.Errorf("the largest message: %d and %d bytes, %v", len(got.Exchange), len(got.Data), err)
	}
	for name, d := range map[string]Direct{
		"no name":       {"", nil},
		"name too long": {long + "n", nil},
		"too much data": {"sum", make([]byte, MaxDirectBytes+1)},
	} {
		if err := WriteDirect(io.Discard, d); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMalformedDirect(t *testing.T) {
	header := func(name string, size uint64) []byte {
		return binary.AppendUvarint(append(binary.AppendUvarint(nil, uint64(len(name))), name...), size)
	}
	for name, c := range map[string]struct {
		data      []byte
		malformed bool
	}{
		"empty stream":        {nil, false},
		"cut name":            {[]byte{3, 's', 'u'}, false},
		"no data":             {[]byte{3, 's', 'u', 'm'}, false},
		"cut data":            {append(header("sum", 4), 1, 2, 3), false},
		"cut length":          {[]byte{0x80}, false},
		"no name":             {[]byte{0, 0}, true},
		"name too long":       {header(strings.Repeat("n", MaxKindBytes+1), 0), true},
		"data too long":       {header("sum", MaxDirectBytes+1), true},
		"length of 2⁶⁴−1":     {header("sum", 1<<64-1), true},
		"more than said":      {append(header("sum", 1), 1, 2), true},
		"length in two ways":  {[]byte{3, 's', 'u', 'm', 0x80, 0}, true},
		"longer than need be": {[]byte{0x83, 0x80, 0, 's', 'u', 'm', 0}, true},
		"length without end":  {bytes.Repeat([]byte{0xff}, 20), true},
	} {
		if got, err := ReadDirect(bytes.NewReader(c.data), anyDirect); err == nil || errors.Is(err, ErrMalformed) != c.malformed {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestDirectPauses(t *testing.T) {
	var total time.Duration
	attempts := 1
	for {
		pause := DirectPause(attempts)
		if total += pause; total > DirectLifetime {
			break
		}
		attempts++
	}
	if attempts != 7 {
		t.Errorf("%d attempts", attempts)
	}
	if got := DirectPause(math.MaxInt32); got != longestDirectPause {
		t.Errorf("the pause after many failures is %v", got)
	}
}

// Whatever is refused is refused before its data are read.
func TestRefusedDirectIsNotRead(t *testing.T) {
	refused := errors.New("refused")
	cut := append([]byte{3, 's', 'u', 'm'}, binary.AppendUvarint(nil, 1000)...)
	if _, err := ReadDirect(bytes.NewReader(cut), func(string, int) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}

// Nothing is taken while its sender may not have finished.
func TestDirectEndsWithItsStream(t *testing.T) {
	broken := errors.New("broken")
	whole := []byte{1, 's', 1, 'd'}
	d, err := ReadDirect(io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(broken)), anyDirect)
	if !errors.Is(err, broken) || d.Data != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDirectReceiptRoundTrip(t *testing.T) {
	var wire bytes.Buffer
	if err := WriteReceipt(&wire); err != nil {
		t.Fatal(err)
	}
	if err := ReadReceipt(&wire); err != nil {
		t.Error(err)
	}
	if err := ReadReceipt(&wire); !errors.Is(err, io.EOF) || errors.Is(err, ErrMalformed) {
		t.Errorf("no receipt: %v", err)
	}
	if err := ReadReceipt(bytes.NewReader([]byte{0})); !errors.Is(err, ErrMalformed) {
		t.Errorf("garbage for a receipt: %v", err)
	}
}

// What is accepted is within the limits and has one form.
func FuzzReadDirect(f *testing.F) {
	for _, d := range []Direct{{"sum", []byte("deal")}, {"s", nil}, {strings.Repeat("n", MaxKindBytes), make([]byte, 300)}} {
		var wire bytes.Buffer
		if err := WriteDirect(&wire, d); err != nil {
			f.Fatal(err)
		}
		f.Add(wire.Bytes())
	}
	f.Add([]byte{0x83, 0x80, 0, 's', 'u', 'm', 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadDirect(bytes.NewReader(data), anyDirect)
		if err != nil {
			if d.Data != nil || !slices.ContainsFunc([]error{ErrMalformed, io.EOF, io.ErrUnexpectedEOF}, func(e error) bool { return errors.Is(err, e) }) {
				t.Fatalf("%+v, %v", d, err)
			}
			return
		}
		var again bytes.Buffer
		if err := WriteDirect(&again, d); err != nil || !bytes.Equal(data, again.Bytes()) {
			t.Fatalf("%x was read as %+v, which is written as %x, %v", data, d, again.Bytes(), err)
		}
	})
}
