package past

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// journal is the journal of a data directory on which no node runs.
type journal struct{ *store.Archive }

func openJournal(dir string) (journal, error) {
	archive, err := store.OpenArchive(dir)
	return journal{archive}, err
}

// orNothing names the data directory in the error of opening a journal that is missing.
func orNothing(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing has run with data directory %s yet", dir)
	}
	return err
}

// read reads a task. Its trials that ran at the end of the node are interrupted.
func (j journal) read(id string) (History, error) {
	h, err := j.History(id, all.Strategies())
	if err != nil {
		return History{}, err
	}
	markInterrupted(h.Trials)
	return historyOf(h), nil
}

func historyOf(h node.History) History {
	return History{Task: h.Task, Trials: h.Trials, Best: h.Best, Epoch: h.Epoch, Stopped: h.Stopped, Items: endedItems(h), Queue: h.Queue, Preferred: h.Preferred}
}

// EachInJournal calls visit for the tasks of a data directory on which no node runs, each with its
// history or the error of reading it, until visit returns an error. The error wraps fs.ErrNotExist
// if there is no journal.
func EachInJournal(dir string, visit func(id string, h History, err error) error) error {
	j, err := openJournal(dir)
	if err != nil {
		return err
	}
	defer j.Close()
	return j.each(visit)
}

func (j journal) each(visit func(id string, h History, err error) error) error {
	ids, err := j.Tasks()
	if err != nil {
		return err
	}
	for _, id := range ids {
		h, err := j.read(id)
		if err := visit(id, h, err); err != nil {
			return err
		}
	}
	return nil
}

// OfNode reads the tasks in the journal of a node that runs in this process, as far as they can be
// read. It leaves out the tasks that skip reports.
func OfNode(n *node.Node, skip func(id string) bool) (pasts []History) {
	ids, err := n.Known()
	if err != nil {
		return nil
	}
	for _, id := range ids {
		if skip(id) {
			continue
		}
		if h, err := n.History(id); err == nil {
			pasts = append(pasts, historyOf(h))
		}
	}
	return pasts
}

// markInterrupted gives trials of a node that has ended the state interrupted.
func markInterrupted(trials []strategy.Trial) {
	for i, trial := range trials {
		if trial.State == strategy.Running && trial.Client == "" {
			trials[i].State = Interrupted
		}
	}
}
