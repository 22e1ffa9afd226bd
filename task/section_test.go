package task_test

import (
	"testing"

	"github.com/fbo-node/fbo/task"
)

// section is what a strategy read from its section.
type section struct{ complete bool }

func (section) Keys() map[string]any { return map[string]any{"wish": "b"} }

// A strategy can read whether the file has all keys, as canonical forms do.
func TestSectionComplete(t *testing.T) {
	var read section
	types := []task.StrategyType{{Name: "some", Settings: func(s *task.Section) task.StrategySettings {
		read = section{s.Complete()}
		s.Word("wish", "b", "b", "c")
		return read
	}}}
	for text, complete := range map[string]bool{
		one: false, one + "strategy: {wish: b}": false, one + "strategy: {wish: c}\nfbo: 1": true, "fbo: 1\n" + one: true,
	} {
		read = section{}
		_, _ = task.Parse("test", []byte(text), types) // some have errors, reported after the strategy has read them
		if read.complete != complete {
			t.Errorf("%s: complete is %t, expected %t", text, read.complete, complete)
		}
	}
	first, err := task.Parse("test", []byte(one), types)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := task.Parse("test", first.Canonical(), types); err != nil || !read.complete {
		t.Errorf("the canonical form %s: %v, complete is %t", first.Canonical(), err, read.complete)
	}
}
