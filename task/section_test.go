package task_test

import (
	"testing"

	"github.com/fbo-node/fbo/task"
)

// noted is what a strategy saw of its section.
type noted struct{ given, complete bool }

func (noted) Keys() map[string]any { return map[string]any{"wish": "b"} }

// A strategy can tell whether a key is in the file, whatever is wrong with it, and whether
// the file says all, as canonical forms do. Neither makes a key an accepted one.
func TestGivenAndComplete(t *testing.T) {
	var saw noted
	types := func(accept bool) []task.StrategyType {
		return []task.StrategyType{{Name: "some", Settings: func(s *task.Section) task.StrategySettings {
			saw = noted{s.Given("wish"), s.Complete()}
			if accept {
				s.Word("wish", "b", "b", "c")
			}
			return saw
		}}}
	}
	for text, want := range map[string]noted{
		one:                                          {},
		one + "strategy: {}":                         {},
		one + "strategy: {type: some}":               {},
		one + "strategy: {wish: b}":                  {given: true},
		one + "strategy: {wish: 7}":                  {given: true},
		one + "strategy: {wish: }":                   {given: true},
		one + "strategy: {wish: c}\nfbo: 1":          {given: true, complete: true},
		"fbo: 1\n" + one:                             {complete: true},
		one + "wish: b":                              {},
		one + "surrogate: {wish: b}\nstrategy: {x:}": {},
	} {
		saw = noted{}
		_, _ = task.Parse("test", []byte(text), types(true)) // some have errors, reported after the strategy has looked
		if saw != want {
			t.Errorf("%s: %+v, want %+v", text, saw, want)
		}
	}
	if _, err := task.Parse("test", []byte(one+"strategy: {wish: b}"), types(false)); err == nil {
		t.Error("a key that was only looked for is accepted")
	}
	first, err := task.Parse("test", []byte(one), types(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := task.Parse("test", first.Canonical(), types(true)); err != nil || saw != (noted{given: true, complete: true}) {
		t.Errorf("of %s: %+v, %v", first.Canonical(), saw, err)
	}
}
