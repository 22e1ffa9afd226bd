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

// MaxDirectBytes bounds the data of one direct message.
const MaxDirectBytes = 256 << 10

// Times of the retries of a message that could not be delivered: pauses double until the message
// expires. Nodes and simulations use the same times.
const (
	DirectLifetime     = time.Minute // since the exchange sent it
	firstDirectPause   = time.Second
	longestDirectPause = 16 * time.Second
)

// DirectPause returns the wait after this many consecutive failures, at least 1, without
// jitter.
func DirectPause(failures int) time.Duration {
	return min(firstDirectPause<<min(failures-1, 10), longestDirectPause)
}

// directTaken is the only byte of a confirmation.
const directTaken = 1

// Direct is a message of an exchange to one peer. The connection authenticates the sender;
// the message is not signed and is not forwarded.
type Direct struct {
	Exchange string // 1 to MaxKindBytes bytes
	Data     []byte // at most MaxDirectBytes; understood by the exchange
}

// Check returns an error when the message is beyond the limits.
func (d Direct) Check() error { return checkDirect(uint64(len(d.Exchange)), uint64(len(d.Data))) }

// WriteDirect writes a message: the length of the exchange's name, the name, the
// length of the data, the data. Lengths are unsigned varints. The length lets the
// reader refuse long data unread. The caller ends the stream.
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

// ReadDirect reads what WriteDirect wrote, to the end of the stream. An earlier
// answer would make libp2p reset the writer's half. Once the exchange and the
// length of the data are known and within their limits, ReadDirect asks accept.
// An error of accept ends it before the data are read or memory is allocated for them.
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
		return fmt.Errorf("direct message: %w: exchange of %d bytes, accepted are 1 to %d", ErrMalformed, name, MaxKindBytes)
	case data > MaxDirectBytes:
		return fmt.Errorf("direct message: %w: %d bytes, the limit is %d", ErrMalformed, data, MaxDirectBytes)
	}
	return nil
}

// readLength reads a length in its shortest form, which is at most the limit.
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

// unexpectedEOF makes the end of a stream within a message an error of its own.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteReceipt confirms that a direct message was accepted.
func WriteReceipt(w io.Writer) error {
	_, err := w.Write([]byte{directTaken})
	return err
}

// ReadReceipt returns nil when the peer confirms.
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
