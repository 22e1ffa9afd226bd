package node_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// A command reads the history of a node that has ended, and distinguishes the errors.
func TestArchiveReadsHistoryAndNamesErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := parse(t, "name: line\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nstrategy: {type: ts}\n")
	id := spec.ID().String()
	if _, err := store.OpenArchive(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a journal: %v", err)
	}

	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	session, err := n.Join(t.Context(), spec, node.JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one := func(context.Context, task.Design) (float64, error) { return 1, nil }
	if err := session.Run(t.Context(), one, node.RunOptions{Evals: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenArchive(dir); !errors.Is(err, node.ErrBusy) {
		t.Errorf("while the node runs: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	archive, err := store.OpenArchive(dir)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := archive.Tasks()
	if err != nil || !slices.Equal(ids, []string{id}) {
		t.Errorf("tasks %v, %v; want %s", ids, err, id)
	}
	h, err := archive.History(id, all.Strategies())
	if err != nil || h.Task.ID() != spec.ID() || len(h.Trials) != 2 || h.Trials[1].State != strategy.Done {
		t.Errorf("history %+v, %v", h, err)
	}
	var unknown *strategy.UnknownError
	if _, err := archive.History(id, nil); !errors.As(err, &unknown) {
		t.Errorf("without the strategy: %v", err)
	}
	if _, err := archive.History("other", all.Strategies()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another task: %v", err)
	}

	if err := archive.Close(); err != nil {
		t.Error(err)
	}

	if err := os.Truncate(filepath.Join(dir, store.JournalFile), 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenArchive(dir); !errors.Is(err, node.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if err := (&node.Node{Strategies: all.Strategies(), Dir: dir}).Start(t.Context()); !errors.Is(err, node.ErrDamaged) {
		t.Errorf("a start with a damaged journal: %v", err)
	}
}
