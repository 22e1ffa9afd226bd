package strategy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/strategy"
)

// TestAnnotationLimits: the error names the limit, and nothing changes.
func TestAnnotationLimits(t *testing.T) {
	long := strings.Repeat("x", 65)
	attributes := func(n int, text string) strategy.AnnotationChange {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprint(i)] = text
		}
		return strategy.AnnotationChange{Attributes: all}
	}
	tags, files, notes := make([]string, 33), make([]strategy.File, 65), make([]strategy.Note, 101)
	for i := range tags {
		tags[i] = fmt.Sprint(i)
	}
	for i := range files {
		files[i].Path = fmt.Sprint(i)
	}
	for i := range notes {
		notes[i].Text = "x"
	}
	one := func(f strategy.File) strategy.AnnotationChange {
		return strategy.AnnotationChange{Files: []strategy.File{f}}
	}
	note := func(n strategy.Note) strategy.AnnotationChange {
		return strategy.AnnotationChange{Notes: []strategy.Note{n}}
	}
	for _, c := range []struct {
		change strategy.AnnotationChange
		want   string
	}{
		{attributes(64, "x"), ""}, {attributes(65, "x"), "65 attributes; expected at most 64"},
		{attributes(1, strings.Repeat("x", 4096)), ""}, {attributes(1, strings.Repeat("x", 4097)), "4097 bytes; expected at most 4096"},
		{attributes(1, "\xff"), "not valid UTF-8"}, {attributes(17, strings.Repeat("x", 4096)), "expected at most 65536 in all"},
		{strategy.AnnotationChange{Attributes: map[string]string{long: "x"}}, "expected 1 to 64 bytes of printable text"},
		{strategy.AnnotationChange{Attributes: map[string]string{"a\x1b": "x"}}, "is no name of an attribute"},
		{strategy.AnnotationChange{Tags: tags[1:]}, ""}, {strategy.AnnotationChange{Tags: tags}, "33 tags; expected at most 32"},
		{strategy.AnnotationChange{Tags: []string{"a\nb"}}, "is no tag"}, {strategy.AnnotationChange{Tags: []string{""}}, "is no tag"},
		{strategy.AnnotationChange{Files: files[1:]}, ""}, {strategy.AnnotationChange{Files: files}, "65 files; expected at most 64"},
		{one(strategy.File{Path: strings.Repeat("x", 1025)}), "expected 1 to 1024"}, {one(strategy.File{}), "expected 1 to 1024"},
		{one(strategy.File{Path: "a\x00"}), "without control characters"},
		{one(strategy.File{Path: "a", SHA256: strings.Repeat("A", 64)}), ""}, {one(strategy.File{Path: "a", SHA256: "abc"}), "expected 64 hexadecimal digits"},
		{strategy.AnnotationChange{Notes: notes[1:]}, ""}, {strategy.AnnotationChange{Notes: notes}, "101 notes; expected at most 100"},
		{note(strategy.Note{Text: strings.Repeat("ö", 2000)}), ""}, {note(strategy.Note{Text: strings.Repeat("ö", 2001)}), "2001 characters; expected 1 to 2000"},
		{note(strategy.Note{}), "0 characters"}, {note(strategy.Note{Text: "\xff"}), "not valid UTF-8"}, {note(strategy.Note{Text: "a", Author: long}), "author"},
	} {
		got, err := c.change.Apply(strategy.Annotations{}, time.Unix(1, 0))
		switch {
		case c.want == "" && err != nil, c.want != "" && (!errors.Is(err, strategy.ErrBadAnnotation) || !strings.Contains(err.Error(), c.want) || strategy.HasAnnotations(got)):
			t.Errorf("%.200v: got %v, expected %q", c.change, err, c.want)
		case c.want == "" && strategy.CheckAnnotations(got) != nil:
			t.Errorf("%.200v is accepted, and its result is not", c.change)
		}
	}
}

// TestAnnotationChanges: a change never alters the annotations that it begins with, a repeated
// change of attributes, tags and files changes nothing, and notes get rising IDs.
func TestAnnotationChanges(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	change := rapid.Custom(func(t *rapid.T) strategy.AnnotationChange {
		var c strategy.AnnotationChange
		c.Attributes = rapid.MapOf(name, rapid.SampledFrom([]string{"", "x", "y"})).Draw(t, "attributes")
		c.Tags, c.RemoveTags = rapid.SliceOf(name).Draw(t, "tags"), rapid.SliceOf(name).Draw(t, "removed tags")
		for _, path := range rapid.SliceOf(name).Draw(t, "files") {
			c.Files = append(c.Files, strategy.File{Path: path})
		}
		for _, text := range rapid.SliceOfN(name, 0, 3).Draw(t, "notes") {
			c.Notes = append(c.Notes, strategy.Note{Text: text})
		}
		c.RemoveNotes = rapid.SliceOfN(rapid.Uint64Range(1, 4), 0, 2).Draw(t, "removed notes")
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		var now strategy.Annotations
		for i, c := range rapid.SliceOfN(change, 1, 6).Draw(t, "changes") {
			before := fmt.Sprintf("%#v", now)
			next, err := c.Apply(now, time.Unix(int64(i), 0))
			if err != nil {
				t.Fatal(err)
			}
			if after := fmt.Sprintf("%#v", now); after != before {
				t.Fatalf("%s became %s", before, after)
			}
			last := uint64(0)
			for _, n := range next.Notes {
				if n.ID <= last || n.Time.IsZero() {
					t.Fatalf("notes %+v", next.Notes)
				}
				last = n.ID
			}
			c.Notes, c.RemoveNotes = nil, nil
			again, err := c.Apply(next, time.Unix(int64(i), 0))
			if err != nil || !strategy.SameAnnotations(again, next) {
				t.Fatalf("again: %+v, %v; expected %+v", again, err, next)
			}
			now = next
		}
	})
}
