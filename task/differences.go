package task

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Differences lists how task t differs from a former one: each parameter, constraint or key of the
// task file that was added, removed or changed. It is empty if the IDs are equal.
func Differences(former, t *Task) (differences []string) {
	before, after := former.form(), t.form()
	for _, key := range slices.Sorted(maps.Keys(union(before, after))) {
		old, now := before[key], after[key]
		if reflect.DeepEqual(old, now) {
			continue
		}
		if key == rulesKey {
			differences = append(differences, changedRules(former.Space.ParameterConstraints(), t.Space.ParameterConstraints())...)
			continue
		}
		what, listed := map[string]string{"parameters": "parameter", "constraints": "constraint"}[key]
		if !listed {
			differences = append(differences, change(key, old, now))
			continue
		}
		found := false
		oldNamed, nowNamed := byName(old), byName(now)
		for _, name := range slices.Sorted(maps.Keys(union(oldNamed, nowNamed))) {
			if !reflect.DeepEqual(oldNamed[name], nowNamed[name]) {
				differences = append(differences, change(fmt.Sprintf("%s %s", what, quote(name)), oldNamed[name], nowNamed[name]))
				found = true
			}
		}
		if !found {
			differences = append(differences, "order of the "+key)
		}
	}
	return differences
}

// changedRules lists the constraints among parameters that were added or removed.
func changedRules(old, now []string) (differences []string) {
	for _, text := range slices.Sorted(slices.Values(slices.Concat(old, now))) {
		what := fmt.Sprintf("parameter constraint %s", quote(text))
		switch before, after := slices.Contains(old, text), slices.Contains(now, text); {
		case !before:
			differences = append(differences, what+" (new)")
		case !after:
			differences = append(differences, what+" (removed)")
		}
	}
	if differences == nil {
		differences = append(differences, "order of the "+rulesKey)
	}
	return differences
}

func change(what string, old, now any) string {
	switch {
	case old == nil:
		return what + " (new)"
	case now == nil:
		return what + " (removed)"
	}
	return what
}

func union(a, b map[string]any) map[string]any {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// byName returns the items of a list of mappings, by the value of their key "name".
func byName(list any) map[string]any {
	named := map[string]any{}
	entries, _ := list.([]any) // nil if the key is absent
	for _, entry := range entries {
		fields := entry.(map[string]any)
		named[fmt.Sprint(fields["name"])] = entry
	}
	return named
}

// form returns the canonical form, decoded from JSON.
func (t *Task) form() (form map[string]any) {
	if err := json.Unmarshal(t.Canonical(), &form); err != nil {
		panic(fmt.Sprintf("task: canonical form: %v", err)) // cannot happen: Canonical returns valid JSON
	}
	return form
}
