package task_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const bare = `name: a
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: n, type: int, low: 1, high: 8}
  - {name: kind, type: categorical, choices: [sgd, "7"]}
  - {name: on, type: bool}
constraints:
  - {name: ram, high: 10}
  - {name: sound, type: bool}
`

const described = `name: a
description: |
  First line.
  Second <line>.
unit: ms
tags: [mine, "2026"]
goal: minimize
default: {on: TRUE, kind: "7", x: +5e-1, n: 3}
parameters:
  - {name: x, type: float, low: 0, high: 1, description: a rate, unit: 1/s}
  - {name: n, type: int, low: 1, high: 8, unit: GB}
  - {name: kind, type: categorical, choices: [sgd, "7"], description: the optimiser}
  - {name: on, type: bool, description: with}
constraints:
  - {name: ram, high: 10, unit: GB}
  - {name: sound, type: bool, description: no cracks}
`

func parseText(t *testing.T, text string) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().Parse("task.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestAboutIsNotInTheID: what the file states for its readers changes neither the canonical form nor
// the ID. File has it, and is a task file with the same meaning.
func TestAboutIsNotInTheID(t *testing.T) {
	of, without := parseText(t, described), parseText(t, bare)
	if !bytes.Equal(of.Canonical(), without.Canonical()) || of.ID() != without.ID() || !bytes.Equal(without.File(), without.Canonical()) {
		t.Fatalf("the canonical forms differ:\n%s\n%s", of.Canonical(), without.Canonical())
	}
	again := parseText(t, string(of.File()))
	if again.ID() != of.ID() || !bytes.Equal(again.File(), of.File()) {
		t.Fatalf("%s\nis read as\n%s", of.File(), again.File())
	}
	a := again.About
	if a.Description != "First line.\nSecond <line>.\n" || a.Unit != "ms" || strings.Join(a.Tags, " ") != "mine 2026" ||
		a.Parameters["x"] != (task.Remark{Description: "a rate", Unit: "1/s"}) || a.Parameters["kind"].Description != "the optimiser" ||
		a.Constraints["ram"].Unit != "GB" || a.Constraints["sound"].Description != "no cracks" {
		t.Errorf("about: %+v", a)
	}
	if text, err := json.Marshal(a.Default); err != nil || string(text) != `{"x":0.5,"n":3,"kind":"7","on":true}` {
		t.Errorf("default %s, %v", text, err)
	}
	made, err := all.Strategies().NewTask(task.Spec{Name: "a", Goal: of.Goal, Parameters: of.Space.Parameters(), Constraints: of.Constraints, About: of.About})
	if err != nil || !bytes.Equal(made.File(), of.File()) {
		t.Errorf("New: %v\n%s", err, made.File())
	}
}

func TestAboutErrors(t *testing.T) {
	for text, want := range map[string]string{
		"description: 3":                                   `task.yaml:10:14: description must be a text, not the number 3`,
		`description: "a\u001b"`:                           `description "a\x1b" is not accepted: it has a character that cannot be printed`,
		"description: " + strings.Repeat("x", 2001):        `it is longer than 2000 characters`,
		"unit: " + strings.Repeat("x", 33):                 `it is longer than 32 characters`,
		"unit: [ms]":                                       `task.yaml:10:7: unit must be a text, not a list`,
		"tags: a":                                          `tags must be a list, not the text "a"`,
		"tags: [a, 1]":                                     `task.yaml:10:11: tags: entry 2 must be a text, not the number 1`,
		"tags: [a, a]":                                     `tags: entry 2 "a" is repeated`,
		"tags: [" + strings.Repeat("a,", 33) + "]":         `tags must be at most 32, not 33`,
		"default: 3":                                       `default must be a mapping (key: value), not the number 3; expected default: {KEY: VALUE}`,
		"default: {x: 0.5}":                                `task.yaml:10:10: default: parameter "n": no value given; it takes a whole number from 1 to 8`,
		"default: {x: 2, n: 1, kind: sgd, on: false}":      `task.yaml:10:11: default: parameter "x": 2 is not accepted; it takes a number from 0 to 1`,
		"default: {x: 0, n: 1.5, kind: sgd, on: false}":    `parameter "n": 1.5 is not accepted`,
		"default: {x: 0, n: 1, kind: 7, on: false}":        `parameter "kind": 7 is not accepted`,
		"default: {x: 0, n: 1, kind: sgd, on: 1}":          `parameter "on": 1 is not accepted`,
		"default: {x: 0, n: 1, kind: sgd, on: }":           `parameter "on": null is not accepted`,
		"default: {x: 0x1, n: 1, kind: sgd, on: true}":     `task.yaml:10:14: default: parameter "x" must be a decimal number without leading zeros or _, not 0x1`,
		"default: {x: [0], n: 1, kind: sgd, on: true}":     `parameter "x": a list is not accepted`,
		"default: {x: 0, n: 1, kind: sgd, on: true, y: 1}": `unknown parameter "y"; accepted: x, n, kind, on`,
		"default: {x: 0, x: 1, n: 1, kind: sgd, on: true}": `key "x" is repeated`,
	} {
		_, err := all.Strategies().Parse("task.yaml", []byte(bare+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), strings.Replace(want, "task.yaml:10:", "task.yaml:11:", 1)) {
			t.Errorf("%.80s: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		strings.Replace(described, "low: 0, high: 1,", "low: 3, high: 1,", 1), // the default is not checked then
		strings.Replace(described, "no cracks", `""`, 1),
		strings.Replace(described, "unit: GB}", "unit: 1}", 1),
	} {
		if _, err := all.Strategies().Parse("task.yaml", []byte(text)); err == nil || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("got %v, expected one error", err)
		}
	}
}
