// Package taskref finds the task to which a user refers, among the tasks of a data directory or of
// a node.
package taskref

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// MinPrefix is the minimum number of characters of a prefix of an ID.
const MinPrefix = 8

// Accepted describes the references that Find accepts.
const Accepted = "an ID, the first characters of one (8 or more), or a name"

// Errors of Find.
var (
	// ErrUnknown means that no task has this ID, prefix or name.
	ErrUnknown = errors.New("no such task")
	// ErrAmbiguous means that several tasks have this prefix or name.
	ErrAmbiguous = errors.New("ambiguous")
)

// Ref is the ID and the name of a task.
type Ref struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// shortLength is the length of a short ID. It exceeds MinPrefix because the first nine characters
// of all IDs are the same.
const shortLength = 18

// Short returns the first characters of an ID. Find accepts them as a prefix.
func Short(id string) string { return id[:min(shortLength, len(id))] }

// String returns the name and the short ID.
func (r Ref) String() string {
	return fmt.Sprintf("%s (%s)", sanitize.Text(r.Name, 80), Short(r.ID))
}

// Find returns the task with the wanted ID. If there is none, it returns the only task with that
// name, or else the only task whose ID has that prefix.
func Find(refs []Ref, wanted string) (Ref, error) {
	named, begun := []Ref{}, []Ref{}
	for _, r := range refs {
		switch {
		case r.ID == wanted:
			return r, nil
		case r.Name == wanted:
			named = append(named, r)
		case len(wanted) >= MinPrefix && strings.HasPrefix(r.ID, wanted):
			begun = append(begun, r)
		}
	}
	for _, found := range [][]Ref{named, begun} {
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Ref{}, fmt.Errorf("task %.100q is %w: %s match; expected one ID or more of its characters", wanted, ErrAmbiguous, Names(found))
		}
	}
	return Ref{}, fmt.Errorf("%w: %.100q; expected %s", ErrUnknown, wanted, Accepted)
}

// Names returns the names and short IDs of the first ten tasks, and the number of further ones.
func Names(refs []Ref) string {
	entries := make([]string, len(refs))
	for i, r := range refs {
		entries[i] = r.String()
	}
	return sanitize.List(entries)
}

// List returns the number of tasks, followed by the result of Names.
func List(refs []Ref) string {
	switch len(refs) {
	case 0:
		return "no task"
	case 1:
		return "task " + Names(refs)
	}
	return fmt.Sprintf("%d tasks: %s", len(refs), Names(refs))
}
