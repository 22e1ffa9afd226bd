package strategy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Annotations are what a trial keeps for its user. Strategies and exchanges do not receive them, so
// no share contains them. A value is not changed in place: AnnotationChange.Apply returns a changed copy.
type Annotations struct {
	Attributes map[string]string `json:"attributes,omitempty"` // texts by name, such as a commit
	Tags       []string          `json:"tags,omitempty"`       // sorted
	Files      []File            `json:"files,omitempty"`      // in the order in which they were added
	Notes      []Note            `json:"notes,omitempty"`      // the oldest first
}

// File refers to a file of the evaluation, such as a checkpoint. The node neither reads nor copies it.
type File struct {
	Path   string `json:"path"`             // a path or a URL
	SHA256 string `json:"sha256,omitempty"` // 64 hexadecimal digits
}

// Note is a text about a trial that was written at some time.
type Note struct {
	ID     uint64    `json:"id,omitempty"` // 1, 2, … per trial
	Time   time.Time `json:"time,omitzero"`
	Author string    `json:"author,omitempty"`
	Text   string    `json:"text"`
}

// Limits of the annotations of one trial.
const (
	MaxAttributes      = 64
	MaxAttributeText   = 4096 // bytes
	MaxTags            = 32
	MaxFiles           = 64
	MaxFilePath        = 1024 // bytes
	MaxNotes           = 100
	MaxNoteText        = 2000     // characters
	MaxAnnotationBytes = 64 << 10 // of all names and texts
)

// ErrBadAnnotation means that annotations are not accepted; nothing has changed.
var ErrBadAnnotation = errors.New("annotation is not accepted")

// AnnotationChange is a change of a trial's annotations.
type AnnotationChange struct {
	// Attributes are set by name. An empty text removes the attribute.
	Attributes map[string]string
	// Tags are added unless the trial has them. RemoveTags are removed first.
	Tags, RemoveTags []string
	// Files are added. One with the path of an earlier file replaces it.
	Files []File
	// Notes are appended. Their IDs are ignored; a missing time is that of the change.
	Notes []Note
	// RemoveNotes has the IDs of notes to remove first. Unknown IDs have no effect.
	RemoveNotes []uint64
}

// Adding returns the change that adds annotations.
func Adding(a Annotations) AnnotationChange {
	return AnnotationChange{Attributes: a.Attributes, Tags: a.Tags, Files: a.Files, Notes: a.Notes}
}

// HasAnnotations reports whether there are any annotations.
func HasAnnotations(a Annotations) bool {
	return len(a.Attributes) > 0 || len(a.Tags) > 0 || len(a.Files) > 0 || len(a.Notes) > 0
}

// SameAnnotations reports whether two annotations are equal. Nil and empty ones are equal.
func SameAnnotations(a, b Annotations) bool {
	return maps.Equal(a.Attributes, b.Attributes) && slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Files, b.Files) &&
		slices.EqualFunc(a.Notes, b.Notes, func(m, n Note) bool {
			return m.ID == n.ID && m.Author == n.Author && m.Text == n.Text && m.Time.Equal(n.Time)
		})
}

// Apply returns annotations after the change, which is made at a time. Error: ErrBadAnnotation.
func (change AnnotationChange) Apply(a Annotations, now time.Time) (Annotations, error) {
	changed := Annotations{
		Attributes: maps.Clone(a.Attributes),
		Tags:       without(a.Tags, change.RemoveTags),
		Files:      slices.Clone(a.Files),
		Notes:      slices.DeleteFunc(slices.Clone(a.Notes), func(n Note) bool { return slices.Contains(change.RemoveNotes, n.ID) }),
	}
	for name, text := range change.Attributes {
		if text == "" {
			delete(changed.Attributes, name)
			continue
		}
		if changed.Attributes == nil {
			changed.Attributes = map[string]string{}
		}
		changed.Attributes[name] = text
	}
	changed.Tags = append(changed.Tags, change.Tags...)
	slices.Sort(changed.Tags)
	changed.Tags = slices.Compact(changed.Tags)
	for _, file := range change.Files {
		file.SHA256 = strings.ToLower(file.SHA256)
		if i := slices.IndexFunc(changed.Files, func(f File) bool { return f.Path == file.Path }); i >= 0 {
			changed.Files[i] = file
		} else {
			changed.Files = append(changed.Files, file)
		}
	}
	for _, note := range change.Notes {
		note.ID = 1
		for _, other := range changed.Notes {
			note.ID = max(note.ID, other.ID+1)
		}
		if note.Time.IsZero() {
			note.Time = now
		}
		changed.Notes = append(changed.Notes, note)
	}
	if err := CheckAnnotations(changed); err != nil {
		return a, err
	}
	return changed, nil
}

func without(all, removed []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(removed, one) })
}

// CheckAnnotations returns an error that names the limit if annotations exceed one. Error:
// ErrBadAnnotation.
func CheckAnnotations(a Annotations) error {
	size := 0
	for _, part := range []struct {
		what       string
		count, max int
	}{{"attributes", len(a.Attributes), MaxAttributes}, {"tags", len(a.Tags), MaxTags}, {"files", len(a.Files), MaxFiles}, {"notes", len(a.Notes), MaxNotes}} {
		if part.count > part.max {
			return fmt.Errorf("%w: %d %s; expected at most %d of a trial", ErrBadAnnotation, part.count, part.what, part.max)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Attributes)) {
		if err := CheckAttribute(name, a.Attributes[name]); err != nil {
			return err
		}
		size += len(name) + len(a.Attributes[name])
	}
	for _, tag := range a.Tags {
		if !IsMetricName(tag) {
			return fmt.Errorf("%w: %.100q is no tag; expected 1 to %d bytes of printable text", ErrBadAnnotation, tag, MaxMetricName)
		}
		size += len(tag)
	}
	for _, file := range a.Files {
		if err := file.check(); err != nil {
			return err
		}
		size += len(file.Path) + len(file.SHA256)
	}
	for _, note := range a.Notes {
		if err := note.check(); err != nil {
			return err
		}
		size += len(note.Author) + len(note.Text)
	}
	if size > MaxAnnotationBytes {
		return fmt.Errorf("%w: the texts of the trial have %d bytes; expected at most %d in all", ErrBadAnnotation, size, MaxAnnotationBytes)
	}
	return nil
}

// CheckAttribute returns an error if a trial may not have this attribute. Error: ErrBadAnnotation.
func CheckAttribute(name, text string) error {
	switch {
	case !IsMetricName(name):
		return fmt.Errorf("%w: %.100q is no name of an attribute; expected 1 to %d bytes of printable text", ErrBadAnnotation, name, MaxMetricName)
	case len(text) > MaxAttributeText:
		return fmt.Errorf("%w: attribute %.100q has %d bytes; expected at most %d", ErrBadAnnotation, name, len(text), MaxAttributeText)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: attribute %.100q is not valid UTF-8", ErrBadAnnotation, name)
	}
	return nil
}

func (f File) check() error {
	switch {
	case f.Path == "" || len(f.Path) > MaxFilePath:
		return fmt.Errorf("%w: the path of a file has %d bytes; expected 1 to %d", ErrBadAnnotation, len(f.Path), MaxFilePath)
	case !utf8.ValidString(f.Path) || strings.ContainsFunc(f.Path, unicode.IsControl):
		return fmt.Errorf("%w: file %.100q: expected a path or a URL without control characters", ErrBadAnnotation, f.Path)
	case f.SHA256 != "" && (len(f.SHA256) != 64 || strings.Trim(f.SHA256, "0123456789abcdef") != ""):
		return fmt.Errorf("%w: sha256 %.100q of file %.100q: expected 64 hexadecimal digits", ErrBadAnnotation, f.SHA256, f.Path)
	}
	return nil
}

func (n Note) check() error {
	count := utf8.RuneCountInString(n.Text)
	switch {
	case count == 0 || count > MaxNoteText:
		return fmt.Errorf("%w: the note has %d characters; expected 1 to %d", ErrBadAnnotation, count, MaxNoteText)
	case !utf8.ValidString(n.Text):
		return fmt.Errorf("%w: the note is not valid UTF-8", ErrBadAnnotation)
	case n.Author != "" && !IsMetricName(n.Author):
		return fmt.Errorf("%w: author %.100q: expected 1 to %d bytes of printable text", ErrBadAnnotation, n.Author, MaxMetricName)
	}
	return nil
}
