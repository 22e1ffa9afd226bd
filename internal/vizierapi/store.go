package vizierapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/strategy"
)

// folder is the folder in a node's directory with the studies, each in a file named after the hash of its
// name.
const folder = "vizier"

// maxStudy is the maximum number of bytes of a study with its metadata.
const maxStudy = 4 << 20

// study is a study with its problem. Neither changes: a change of the study makes another one.
type study struct {
	*vizierpb.Study
	*problem
}

// mutable reports whether clients may change the study's trials and metadata.
func (s *study) mutable() bool {
	return s.GetState() == vizierpb.Study_ACTIVE || s.GetState() == vizierpb.Study_STATE_UNSPECIFIED
}

// stored is the content of a study's file.
type stored struct {
	Format int    `json:"format"` // 1
	Name   string `json:"name"`   // for people
	Task   string `json:"task"`   // ID
	Study  []byte `json:"study"`  // the message

	Canonical json.RawMessage `json:"canonical"` // the task, should a later version make another one of the study
}

// store has the studies of a node, in memory and on disk.
type store struct {
	dir string // of the node

	mu     sync.Mutex
	byName map[string]*study
}

// openStore reads the studies of a node.
func openStore(dir string, strategies strategy.Set) (*store, error) {
	s := &store{dir: dir, byName: map[string]*study{}}
	at := filepath.Join(dir, folder)
	if err := datadir.NoLink(at); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		path := filepath.Join(at, entry.Name())
		one, err := readStudy(path, strategies)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.byName[one.GetName()] = one
	}
	return s, nil
}

func readStudy(path string, strategies strategy.Set) (*study, error) {
	file, err := datadir.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 2*maxStudy+1))
	if err != nil {
		return nil, err
	}
	return decodeStudy(data, strategies)
}

func decodeStudy(data []byte, strategies strategy.Set) (*study, error) {
	var s stored
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, fmt.Errorf("not as it was written: %w", err)
	}
	if s.Format != 1 {
		return nil, fmt.Errorf("it has format %d; this version reads format 1", s.Format)
	}
	message := &vizierpb.Study{}
	if err := proto.Unmarshal(s.Study, message); err != nil {
		return nil, fmt.Errorf("the study is not as it was written: %w", err)
	}
	if err := checkStudy(message.GetName()); err != nil {
		return nil, err
	}
	p, err := newProblem(message, strategies)
	if err != nil {
		return nil, err
	}
	if p.task.ID().String() != s.Task {
		if p.task, err = strategies.ParseCanonical("task", s.Canonical); err != nil {
			return nil, err
		}
		if id := p.task.ID().String(); id != s.Task {
			return nil, fmt.Errorf("it is about task %s, and has task %s", s.Task, id)
		}
	}
	return &study{message, p}, nil
}

// get returns a study.
func (s *store) get(name string) (one *study, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok = s.byName[name]
	return one, ok
}

// all returns the studies that a function selects, by name.
func (s *store) all(selects func(*study) bool) (chosen []*study) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.byName {
		if selects(one) {
			chosen = append(chosen, one)
		}
	}
	slices.SortFunc(chosen, func(a, b *study) int { return strings.Compare(a.GetName(), b.GetName()) })
	return chosen
}

func (s *store) path(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(s.dir, folder, hex.EncodeToString(sum[:16])+".json")
}

// put stores a study; it is on the disk when put returns.
func (s *store) put(one *study) error {
	message, err := proto.Marshal(one.Study)
	if err != nil {
		return err
	}
	if len(message) > maxStudy {
		return invalid("study %.200q has %d bytes with its metadata; expected at most %d", one.GetName(), len(message), maxStudy)
	}
	data, err := json.Marshal(stored{1, one.GetName(), one.task.ID().String(), message, one.task.File()})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := datadir.Folder(s.dir, folder); err != nil {
		return err
	}
	if err := datadir.Replace(s.path(one.GetName()), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	if err := datadir.Sync(s.dir); err != nil {
		return err
	}
	s.byName[one.GetName()] = one
	return nil
}

// remove removes a study; it is removed from the disk when remove returns.
func (s *store) remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(s.byName, name)
	return datadir.Sync(filepath.Join(s.dir, folder))
}
