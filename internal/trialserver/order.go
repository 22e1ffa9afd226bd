package trialserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Order holds the data with which a task is joined.
type Order struct {
	Text         string            `json:"text"`              // of the task file
	Tables       map[string]string `json:"tables,omitempty"`  // the files that it names, by name
	Enqueue      []json.RawMessage `json:"enqueue,omitempty"` // designs to evaluate first
	PriorDesigns []json.RawMessage `json:"prior_designs,omitempty"`
	Seed         *uint64           `json:"seed,omitempty"`
}

// FieldError is an error in one field of an order.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the error without the field.
func (e *FieldError) Unwrap() error { return e.Err }

// parse returns the task; its errors have lines and columns.
func (o Order) parse(strategies strategy.Set) (*task.Task, error) {
	folder := fstest.MapFS{}
	for _, name := range slices.Sorted(maps.Keys(o.Tables)) {
		if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." {
			return nil, &FieldError{"tables", fmt.Errorf("%.100q is no name of a file", name)}
		}
		folder[name] = &fstest.MapFile{Data: []byte(o.Tables[name])}
	}
	t, err := strategies.ParseBeside(folder, "task", []byte(o.Text))
	if err != nil {
		return nil, &FieldError{"text", err}
	}
	return t, nil
}

// options reads the keys of the order other than the task.
func (o Order) options(t *task.Task) (options node.JoinOptions, err error) {
	options.Seed = o.Seed
	if options.Enqueue, err = designs("enqueue", o.Enqueue, t.Space); err != nil {
		return options, err
	}
	options.PriorDesigns, err = designs("prior_designs", o.PriorDesigns, t.Space)
	return options, err
}

func designs(field string, raw []json.RawMessage, space *task.Space) (all []task.Design, err error) {
	for i, data := range raw {
		design, err := space.UnmarshalDesign(data)
		if err != nil {
			return nil, &FieldError{fmt.Sprintf("%s[%d]", field, i), err}
		}
		all = append(all, design)
	}
	return all, nil
}

// servedDir is the folder in a node's directory with the orders of the served tasks, each in a file
// named after the task's ID.
const servedDir = "served"

// MaxOrder is the maximum number of bytes of the file of an order.
const MaxOrder = 64 << 20

// served is the content of such a file.
type served struct {
	Format    int             `json:"format"` // 1
	Canonical json.RawMessage `json:"canonical"`
	Order     Order           `json:"order"`
}

func servedPath(dir, id string) string { return filepath.Join(dir, servedDir, id+".json") }

// writeServed stores an order; it is on the disk when it returns.
func writeServed(dir string, t *task.Task, o Order) error {
	data, err := json.Marshal(served{1, t.File(), o})
	if err != nil {
		return err
	}
	if len(data) > MaxOrder {
		return fmt.Errorf("the order has %d bytes, expected at most %d", len(data), MaxOrder)
	}
	if _, err := datadir.Folder(dir, servedDir); err != nil {
		return err
	}
	if err := datadir.Replace(servedPath(dir, t.ID().String()), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	return datadir.Sync(dir)
}

// forgetServed removes an order; it is removed from the disk when it returns.
func forgetServed(dir, id string) error {
	if err := os.Remove(servedPath(dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return datadir.Sync(filepath.Join(dir, servedDir))
}

// listServed returns the IDs of the tasks with an order, sorted.
func listServed(dir string) (ids []string, err error) {
	folder := filepath.Join(dir, servedDir)
	if err := datadir.NoLink(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// readServed returns the order of a task, and the task.
func readServed(dir, id string, strategies strategy.Set) (*task.Task, Order, error) {
	path := servedPath(dir, id)
	file, err := datadir.Open(path)
	if err != nil {
		return nil, Order{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxOrder+1))
	if err != nil {
		return nil, Order{}, err
	}
	t, o, err := decodeServed(data, id, strategies)
	if err != nil {
		return nil, Order{}, fmt.Errorf("%s: %w", path, err)
	}
	return t, o, nil
}

// decodeServed uses the canonical form if the text now has another meaning, for example after a
// change of a default.
func decodeServed(data []byte, id string, strategies strategy.Set) (*task.Task, Order, error) {
	var s served
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, Order{}, fmt.Errorf("not as it was written: %w", err)
	}
	if s.Format != 1 {
		return nil, Order{}, fmt.Errorf("it has format %d; this version reads format 1", s.Format)
	}
	if t, err := s.Order.parse(strategies); err == nil && t.ID().String() == id {
		return t, s.Order, nil
	}
	t, err := strategies.ParseCanonical("task", s.Canonical)
	if err != nil {
		return nil, Order{}, err
	}
	if t.ID().String() != id {
		return nil, Order{}, fmt.Errorf("it is about task %v", t.ID())
	}
	return t, s.Order, nil
}
