package protocol

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/multiformats/go-varint"
)

// MaxDirectBytes is the maximum size of the data of a direct message.
const MaxDirectBytes = 256 << 10

// Times for repeated attempts to deliver a message. The pause doubles after each attempt until the
// message expires. Nodes and simulations use the same times.
const (
	DirectLifetime     = time.Minute // from the time when the exchange sends the message
	firstDirectPause   = time.Second
	longestDirectPause = 16 * time.Second
)

// DirectPause returns the pause, without jitter, after the given number of consecutive failures,
// which is at least 1.
func DirectPause(failures int) time.Duration {
	return min(firstDirectPause<<min(failures-1, 10), longestDirectPause)
}

// directTaken is the only byte of a confirmation.
const directTaken = 1

// Direct is a message from an exchange to one peer. The connection authenticates the sender. The
// message is not signed, and peers do not forward it.
type Direct struct {
	Exchange string // 1 to MaxKindBytes bytes
	Data     []byte // at most MaxDirectBytes, in the exchange's own encoding
}

// Check returns an error if the message exceeds a limit.
func (d Direct) Check() error { return checkDirect(uint64(len(d.Exchange)), uint64(len(d.Data))) }

// WriteDirect writes a message: the length of the exchange's name, the name, the length of the
// data, and the data. Lengths are unsigned varints. They allow the reader to reject long data
// without reading it. The caller must close the stream for writing.
func WriteDirect(w io.Writer, d Direct) error {
	if err := d.Check(); err != nil {
		return err
	}
	wire := make([]byte, 0, len(d.Exchange)+len(d.Data)+2*binary.MaxVarintLen32)
	wire = append(binary.AppendUvarint(wire, uint64(len(d.Exchange))), d.Exchange...)
	wire = append(binary.AppendUvarint(wire, uint64(len(d.Data))), d.Data...)
	_, err := w.Write(wire)
	return err
}

// ReadDirect reads a message that WriteDirect has written, up to the end of the stream. It reads to
// the end because libp2p resets the writer's half of a stream if the reader responds earlier.
//
// When the exchange and the length of the data are known and within the limits, ReadDirect calls
// accept. If accept returns an error, ReadDirect returns that error and neither reads the data nor
// allocates memory for it.
func ReadDirect(r io.Reader, accept func(exchange string, bytes int) error) (Direct, error) {
	buffered := bufio.NewReader(r)
	named, err := readLength(buffered, MaxKindBytes)
	if err != nil {
		return Direct{}, fmt.Errorf("direct message: exchange: %w", err)
	}
	if err := checkDirect(named, 0); err != nil {
		return Direct{}, err
	}
	name := make([]byte, named)
	if _, err := io.ReadFull(buffered, name); err != nil {
		return Direct{}, fmt.Errorf("direct message: exchange: %w", unexpectedEOF(err))
	}
	size, err := readLength(buffered, MaxDirectBytes)
	if err != nil {
		return Direct{}, fmt.Errorf("direct message: data: %w", unexpectedEOF(err))
	}
	d := Direct{Exchange: string(name)}
	if err := accept(d.Exchange, int(size)); err != nil {
		return Direct{}, err
	}
	d.Data = make([]byte, size)
	if _, err := io.ReadFull(buffered, d.Data); err != nil {
		return Direct{}, fmt.Errorf("direct message: data: %w", unexpectedEOF(err))
	}
	switch _, err := buffered.ReadByte(); {
	case err == nil:
		return Direct{}, fmt.Errorf("direct message: %w: more than the %d bytes of data announced", ErrMalformed, size)
	case !errors.Is(err, io.EOF):
		return Direct{}, fmt.Errorf("direct message: end: %w", err)
	}
	return d, nil
}

func checkDirect(name, data uint64) error {
	switch {
	case name == 0 || name > MaxKindBytes:
		return fmt.Errorf("direct message: %w: exchange of %d bytes, expected 1 to %d", ErrMalformed, name, MaxKindBytes)
	case data > MaxDirectBytes:
		return fmt.Errorf("direct message: %w: %d bytes, the limit is %d", ErrMalformed, data, MaxDirectBytes)
	}
	return nil
}

// readLength reads a length of at most the limit. It must be encoded in its shortest form.
func readLength(r io.ByteReader, limit uint64) (uint64, error) {
	n, err := varint.ReadUvarint(r)
	switch {
	case errors.Is(err, varint.ErrOverflow) || errors.Is(err, varint.ErrNotMinimal):
		return 0, fmt.Errorf("%w: length: %w", ErrMalformed, err)
	case err != nil:
		return 0, err
	case n > limit:
		return 0, fmt.Errorf("%w: length %d, the limit is %d", ErrMalformed, n, limit)
	}
	return n, nil
}

// unexpectedEOF replaces io.EOF by io.ErrUnexpectedEOF. It is for streams that end within a
// message.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteReceipt confirms that a direct message has been processed.
func WriteReceipt(w io.Writer) error {
	_, err := w.Write([]byte{directTaken})
	return err
}

// ReadReceipt waits for the confirmation. It returns nil once the peer has confirmed.
func ReadReceipt(r io.Reader) error {
	var answer [1]byte
	if _, err := io.ReadFull(r, answer[:]); err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	if answer[0] != directTaken {
		return fmt.Errorf("receipt: %w: %#x", ErrMalformed, answer[0])
	}
	return nil
}
