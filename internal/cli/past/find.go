// Package past reads the data about a data directory's tasks, from the node that runs there or from
// its journal.
package past

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Accepted describes the arguments that name a task, for the help of commands.
const Accepted = "a file, an ID, its first characters or a name"

// FindRef returns the task that an argument names. Its name is empty if the argument is an ID.
func FindRef(ctx context.Context, dir, wanted string) (taskref.Ref, error) {
	if t, err := base.FileTask(wanted); err != nil {
		return taskref.Ref{}, err
	} else if t != nil {
		return refOf(t), nil
	}
	if isID(wanted) {
		return taskref.Ref{ID: wanted}, nil
	}
	served, ok, err := control.Tasks(ctx, dir)
	if err != nil {
		return taskref.Ref{}, err
	}
	if ok {
		return Served(dir, served, wanted)
	}
	j, err := openJournal(dir)
	if err != nil {
		return taskref.Ref{}, OrMissingFile(wanted, orNothing(dir, err))
	}
	defer j.Close()
	return j.find(dir, wanted)
}

func refOf(t *task.Task) taskref.Ref { return taskref.Ref{ID: t.ID().String(), Name: t.Name} }

func isID(wanted string) bool {
	_, err := cid.Decode(wanted)
	return err == nil
}

// OrMissingFile returns the error of reading a file if the argument looks like a path.
func OrMissingFile(wanted string, err error) error {
	if !strings.ContainsAny(wanted, "./\\") || errors.Is(err, taskref.ErrAmbiguous) {
		return err
	}
	if _, missing := base.ReadTask(wanted); missing != nil {
		return missing
	}
	return err
}

// Served returns the task of a running node that an argument names; empty names the only one. The
// error of a task on which the node does not work wraps taskref.ErrUnknown.
func Served(dir string, served []taskref.Ref, wanted string) (taskref.Ref, error) {
	switch {
	case wanted == "" && len(served) == 0:
		return taskref.Ref{}, fmt.Errorf("the node that runs on data directory %s serves no task yet", dir)
	case wanted == "" && len(served) == 1:
		return served[0], nil
	case wanted == "":
		return taskref.Ref{}, base.Usagef("the node that runs on data directory %s works on %d tasks; expected one of %s", dir, len(served), taskref.Names(served))
	}
	of, err := base.FileTask(wanted)
	if err != nil {
		return taskref.Ref{}, err
	}
	id := wanted
	if of != nil {
		id = of.ID().String()
	}
	found, err := taskref.Find(served, id)
	if errors.Is(err, taskref.ErrUnknown) {
		err = fmt.Errorf("%w: the node that runs on data directory %s works on %s, and not on task %s", taskref.ErrUnknown, dir, taskref.List(served), id)
	}
	if err != nil {
		return taskref.Ref{}, OrMissingFile(wanted, usageIfAmbiguous(err))
	}
	return found, nil
}

// find returns the task of a journal that an argument names; empty names the only one.
func (j journal) find(dir, wanted string) (taskref.Ref, error) {
	ids, err := j.Tasks()
	if err != nil {
		return taskref.Ref{}, err
	}
	switch {
	case wanted == "" && len(ids) == 0: // a run that failed before it joined its task
		return taskref.Ref{}, fmt.Errorf("nothing has run with data directory %s yet", dir)
	case wanted == "" && len(ids) == 1:
		return taskref.Ref{ID: ids[0]}, nil
	}
	of, err := base.FileTask(wanted)
	if err != nil {
		return taskref.Ref{}, err
	}
	if of != nil {
		wanted = of.ID().String()
	}
	var refs []taskref.Ref
	for _, id := range ids {
		if id == wanted {
			return taskref.Ref{ID: id}, nil
		}
		r, err := j.ref(id)
		if err != nil {
			return taskref.Ref{}, err
		}
		refs = append(refs, r)
	}
	if wanted == "" {
		return taskref.Ref{}, base.Usagef("data directory %s holds %d tasks; expected one of %s", dir, len(ids), taskref.Names(refs))
	}
	found, err := taskref.Find(refs, wanted)
	if errors.Is(err, taskref.ErrUnknown) {
		err = fmt.Errorf("data directory %s has no task %s; expected a file, %s; it holds %s", dir, wanted, taskref.Accepted, taskref.List(refs))
	}
	if err != nil {
		return taskref.Ref{}, OrMissingFile(wanted, usageIfAmbiguous(err))
	}
	return found, nil
}

// ref returns the name of a task in a journal. That of a task of another program is not readable.
func (j journal) ref(id string) (taskref.Ref, error) {
	h, err := j.read(id)
	if unknown, is := errors.AsType[*strategy.UnknownError](err); is {
		return taskref.Ref{ID: id, Name: trialserver.Unreadable(id, unknown).Name}, nil
	}
	if err != nil {
		return taskref.Ref{}, err
	}
	return taskref.Ref{ID: id, Name: h.Task.Name}, nil
}

func usageIfAmbiguous(err error) error {
	if errors.Is(err, taskref.ErrAmbiguous) {
		return base.BadUsage(err)
	}
	return err
}
