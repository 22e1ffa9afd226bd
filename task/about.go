package task

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the texts of About.
const (
	maxDescription = 2000 // characters
	maxUnit        = 32   // characters
	maxTags        = 32
	maxTag         = 64 // characters
)

// About has what a task file states besides the task itself. It belongs to one node: it is neither
// part of the ID nor shared, so nodes on one task may differ in it.
type About struct {
	Description string   // at most 2000 characters; it may have line breaks
	Unit        string   // of the objective, such as "ms"; at most 32 characters
	Tags        []string // at most 32, each of at most 64 characters

	// Parameters and Constraints have the remarks on each, by name.
	Parameters, Constraints map[string]Remark

	// Default is a design that the node evaluates before all others, such as the present settings.
	// It is the zero design if there is none.
	Default Design
}

// Remark describes a parameter or a constraint.
type Remark struct {
	Description string // at most 2000 characters; it may have line breaks
	Unit        string // at most 32 characters
}

// File returns Canonical with the content of About and with Stop. It is a task file with the same ID.
func (t *Task) File() []byte {
	form := t.canonicalForm()
	if t.Stop != nil {
		form[stopKey] = t.Stop.form()
	}
	t.About.put(form)
	return mustMarshal(form)
}

// put adds the keys of About to the form of a task file.
func (a About) put(form map[string]any) {
	a.remark(form, Remark{a.Description, a.Unit})
	if len(a.Tags) > 0 {
		form["tags"] = a.Tags
	}
	if !a.Default.IsZero() {
		form["default"] = a.Default
	}
	if parameters, ok := form["parameters"].([]map[string]any); ok {
		for _, p := range parameters {
			a.remark(p, a.Parameters[p["name"].(string)])
		}
	}
	if constraints, ok := form["constraints"].([]map[string]any); ok {
		for _, c := range constraints {
			a.remark(c, a.Constraints[string(c["name"].(Output))])
		}
	}
}

func (About) remark(form map[string]any, r Remark) {
	if r.Description != "" {
		form["description"] = r.Description
	}
	if r.Unit != "" {
		form["unit"] = r.Unit
	}
}

// about reads the keys of About. The space is nil after errors in the parameters.
func (m *Section) about(t *Task) {
	own := m.remark()
	t.About = About{Description: own.Description, Unit: own.Unit, Tags: m.tags(), Parameters: m.d.parameters, Constraints: m.d.constraints}
	n, ok := m.get("default")
	if !ok {
		return
	}
	if part := m.d.mapping(n, "default"); part != nil {
		t.About.Default = part.design(t.Space)
	}
}

// remark reads the keys description and unit.
func (m *Section) remark() (r Remark) {
	if _, ok := m.get("description"); ok {
		if r.Description, ok = m.text("description"); ok {
			if message := checkDescription(r.Description); message != "" {
				m.Errorf("description", "description %s is not accepted: %s", quote(r.Description), message)
			}
		}
	}
	if _, ok := m.get("unit"); ok {
		if r.Unit, ok = m.text("unit"); ok {
			if message := checkText(r.Unit, maxUnit); message != "" {
				m.Errorf("unit", "unit %s is not accepted: %s", quote(r.Unit), message)
			}
		}
	}
	return r
}

// keepRemark reads the remark on the parameter or constraint of this section.
func (m *Section) keepRemark(all *map[string]Remark, name string) {
	r := m.remark()
	if r == (Remark{}) {
		return
	}
	if *all == nil {
		*all = map[string]Remark{}
	}
	(*all)[name] = r
}

// checkDescription returns an error message if a text is not valid as a description.
func checkDescription(text string) string {
	odd := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError }
	if strings.ContainsFunc(text, odd) {
		return "it has a character that cannot be printed"
	}
	return checkText(strings.Join(strings.Fields(text), " "), maxDescription)
}

// tags reads the key tags.
func (m *Section) tags() []string {
	if _, ok := m.get("tags"); !ok {
		return nil
	}
	items, ok := m.list("tags")
	if !ok {
		return nil
	}
	if len(items) > maxTags {
		m.Errorf("tags", "tags must be at most %d, not %d", maxTags, len(items))
		return nil
	}
	var all []string
	for i, n := range items {
		s := m.d.scalar(n)
		message := checkText(s.text, maxTag)
		switch {
		case s.form != formText:
			m.errorf(nodePosition(n), "tags: entry %d must be a text, not %s", i+1, s.describe())
		case message != "":
			m.errorf(nodePosition(n), "tags: entry %d %s is not accepted: %s", i+1, quote(s.text), message)
		case slices.Contains(all, s.text):
			m.errorf(nodePosition(n), "tags: entry %d %s is repeated", i+1, quote(s.text))
		}
		all = append(all, s.text)
	}
	return all
}

// design reads a section as a design of the space; a nil space accepts any.
func (m *Section) design(space *Space) Design {
	values, ok := map[string]any{}, space != nil
	for _, key := range m.order {
		n := m.entries[key].value
		var message string
		if values[key], message = m.d.scalar(n).value(); message != "" {
			m.errorf(nodePosition(n), "parameter %s %s", quote(key), message)
			ok = false
		}
	}
	if !ok {
		return Design{}
	}
	design, err := space.ParseDesign(values)
	if err != nil {
		at, message := m.at, strings.TrimPrefix(err.Error(), "task: ")
		for key, e := range m.entries {
			if strings.HasPrefix(message, "parameter "+quote(key)+":") {
				at = e.at
			}
		}
		m.errorf(at, "%s", message)
	}
	return design
}
