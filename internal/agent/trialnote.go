package agent

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/fbo-node/fbo/strategy"
)

// ErrBadNote means that a note is not accepted; nothing has changed.
var ErrBadNote = errors.New("note is not accepted")

// MaxNote is the maximum number of characters of a note.
const MaxNote = 2000

// Note sets the user's note on a trial in any state; an empty text removes it. Strategies and
// exchanges do not get notes, so no share has them. Errors: ErrUnknownTrial, ErrBadNote.
func (a *Agent) Note(id uint64, text string) error {
	trial, err := a.trials.get(id)
	if err != nil {
		return err
	}
	if err := checkNote(text); err != nil {
		return err
	}
	if trial.Note == text {
		return nil
	}
	a.record(Record{TrialNote: &TrialNoteRecord{ID: id, Text: text}})
	noted := a.trials.list[id-1]
	a.event(Event{Type: TrialNoted, Trial: &noted})
	return nil
}

func checkNote(text string) error {
	if n := utf8.RuneCountInString(text); n > MaxNote {
		return fmt.Errorf("%w: it has %d characters; expected at most %d", ErrBadNote, n, MaxNote)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: it is not valid UTF-8", ErrBadNote)
	}
	return nil
}

func (t *trials) note(r TrialNoteRecord) error {
	if _, err := t.get(r.ID); err != nil {
		return err
	}
	if err := checkNote(r.Text); err != nil {
		return fmt.Errorf("trial %d: %w", r.ID, err)
	}
	t.list[r.ID-1].Note = r.Text
	return nil
}

// withoutNotes removes the notes from trials, in place.
func withoutNotes(trials []strategy.Trial) []strategy.Trial {
	for i := range trials {
		trials[i].Note = ""
	}
	return trials
}
