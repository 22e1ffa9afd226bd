package sharecache

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/datadir"
)

// MaxBytes is the maximum size of a file that Read accepts.
const MaxBytes = 64 << 20

// ErrDamaged means that the file is not as it was written.
var ErrDamaged = errors.New("damaged")

const format = 2

// Contents is the content of a file.
type Contents struct {
	Task       string // ID of the task
	Shares     []Share
	Distrusted map[string]uint64 // by peer ID, the epoch up to which the peer's shares are ignored
}

// Share is a stored share of a peer.
type Share struct {
	Envelope  []byte    `json:"share"`
	Sent      time.Time `json:"sent"` // time at which its author sent it, as far as known
	Connected bool      `json:"connected,omitempty"`

	// ConflictingShare is a second, contradicting share of the author. Both shares together prove
	// an equivocation.
	ConflictingShare []byte `json:"conflicting_share,omitempty"`
}

type (
	header struct {
		Format int    `json:"format"`
		Task   string `json:"task"`
	}
	distrust struct {
		Peer  string `json:"distrusted"`
		Epoch uint64 `json:"epoch"`
	}
	footer struct {
		Sum string `json:"sha256"`
	}
	// line is a line between the first and the last.
	line struct {
		Share
		distrust
	}
)

// Write replaces the file at path. It creates the folder of the file, which must be directly in the
// data directory, if it is missing. If the process is killed during the write, the old file
// remains. Writes to one path must not be concurrent.
func Write(path string, c Contents) error {
	folder := filepath.Dir(path)
	if _, err := datadir.Folder(filepath.Dir(folder), filepath.Base(folder)); err != nil {
		return fmt.Errorf("share cache: %w", err)
	}
	if err := datadir.Replace(path, func(w io.Writer) error { return encode(w, c) }); err != nil {
		return fmt.Errorf("share cache: write %s: %w", path, err)
	}
	return nil
}

func encode(w io.Writer, c Contents) error {
	sum := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	lines := json.NewEncoder(out)
	err := lines.Encode(header{format, c.Task})
	for _, share := range c.Shares {
		err = errors.Join(err, lines.Encode(share))
	}
	for _, peer := range slices.Sorted(maps.Keys(c.Distrusted)) {
		err = errors.Join(err, lines.Encode(distrust{peer, c.Distrusted[peer]}))
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(footer{hex.EncodeToString(sum.Sum(nil))})
}

// Read returns the content of the file at path. Without a file it returns an empty Contents and no
// error. If the file is damaged, the error wraps ErrDamaged.
func Read(path string) (Contents, error) {
	if err := datadir.NoLink(filepath.Dir(path)); err != nil {
		return Contents{}, fmt.Errorf("share cache: %w", err)
	}
	file, err := datadir.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Contents{}, nil
	}
	if err != nil {
		return Contents{}, fmt.Errorf("share cache: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return Contents{}, fmt.Errorf("share cache: %w", err)
	}
	c, err := decode(text)
	if err != nil {
		return Contents{}, fmt.Errorf("share cache: %s is %w: %w", path, ErrDamaged, err)
	}
	return c, nil
}

func decode(text []byte) (c Contents, err error) {
	if len(text) > MaxBytes {
		return c, fmt.Errorf("more than %d bytes", MaxBytes)
	}
	body, last, ok := cutLastLine(text)
	var end footer
	if !ok || json.Unmarshal(last, &end) != nil {
		return c, errors.New("it has no end")
	}
	if sum := sha256.Sum256(body); end.Sum != hex.EncodeToString(sum[:]) {
		return c, errors.New("its checksum is wrong")
	}
	lines := json.NewDecoder(bytes.NewReader(body))
	lines.DisallowUnknownFields()
	var first header
	if err := lines.Decode(&first); err != nil {
		return c, fmt.Errorf("its first line: %w", err)
	}
	if first.Format != format {
		return c, fmt.Errorf("its format is %d, this version reads %d", first.Format, format)
	}
	c.Task = first.Task
	for {
		var l line
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			return c, nil
		} else if err != nil {
			return c, err
		}
		if l.Peer == "" {
			c.Shares = append(c.Shares, l.Share)
			continue
		}
		if c.Distrusted == nil {
			c.Distrusted = map[string]uint64{}
		}
		c.Distrusted[l.Peer] = l.Epoch
	}
}

// cutLastLine splits off the last line. All lines must end with a newline.
func cutLastLine(text []byte) (body, last []byte, ok bool) {
	whole, ended := bytes.CutSuffix(text, []byte("\n"))
	at := bytes.LastIndexByte(whole, '\n')
	if !ended || at < 0 {
		return nil, nil, false
	}
	return whole[:at+1], whole[at+1:], true
}
