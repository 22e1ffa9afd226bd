package task

import (
	"fmt"
	"io/fs"

	"github.com/goccy/go-yaml/ast"
)

// section defines an optional section of the task file. A new section needs a file that defines it
// and a line in the function sections.
type section struct {
	key string
	// parse reads the section into the task. If the file does not have the section, m is empty.
	// After errors in the parameters, the task's Space is nil.
	parse func(m *Section, t *Task)
	// canonical returns the section with all defaults. If it returns nil, the canonical form omits
	// the section, so that tasks without a newer section keep their ID.
	canonical func(t *Task) any
}

func sections() []section {
	return []section{
		surrogateSection(),
		strategySection(),
		privacySection(),
	}
}

// Parse reads a task file: YAML or JSON, at most 64 KiB, one document. The file's
// name is used in errors only. An error is a *ParseError and holds all errors of the
// file, with line and column; after a YAML syntax error it holds only that.
//
//	name: wearable-lr
//	description: learning rate of the wearable model, one node per hospital
//	unit: nats                         # of the objective
//	tags: [wearable, "2026"]
//	stop: {type: asha, grace_period: 1, reduction_factor: 3} # see Stopping
//	default: {learning_rate: 0.1, batch_size: 20, optimizer: sgd, nesterov: false, momentum: 0, hidden_units: 64}
//	goal: minimize                     # or maximize
//	parameters:
//	  - {name: learning_rate, type: float, low: 0.001, high: 1, scale: log}
//	  - {name: batch_size, type: int, low: 20, high: 100}
//	  - {name: optimizer, type: categorical, choices: [sgd, adam]}
//	  - {name: nesterov, type: bool}
//	  - {name: momentum, type: float, low: 0, high: 0.95, step: 0.05}
//	  - {name: hidden_units, type: int, choices: [16, 32, 64, 256]}
//	  - {name: epochs, value: 20}
//	  - {name: beta, type: float, low: 0.8, high: 0.99, when: {optimizer: adam}}
//	parameter_constraints: ["batch_size * hidden_units <= 4096"]
//	designs: {file: roads.csv, max_moves: 1} # only these, see ParseBeside
//	objectives:                        # in place of goal; the first is the value, the others are metrics
//	  - {name: error, goal: minimize}
//	  - {name: latency, goal: minimize, reference: 50}
//	constraints:
//	  - {name: latency_ms, high: 10}   # low, high or both
//	  - {name: converged, type: bool}
//	failures: constraint               # or ignore, or learn, the default
//	continues: bagaaiera…              # ID of the former task, see Continue
//	surrogate: {type: exact, kernel: matern52, features: 256, lengthscale: 0.3, category_lengthscale: 1}
//	strategy: {type: fts, mode: concurrent, schedule: inverse-sqrt, initial_designs: 3, share_every: 1}
//	privacy: {mechanism: local, epsilon: 4, delta: 1e-5, clip: 16, releases: 10, adjacency: replace-one}
//
// The sections surrogate and strategy and all their keys have defaults, except the values
// of fixed hyperparameters (hyperparameters: fixed). Without the section privacy there is no
// privacy guarantee. There are at most 16 constraints; without any, every design is feasible.
// With failures: constraint, failed evaluations count as violations too. The section privacy
// requires epsilon. With mechanism aggregate it also requires a roster: the peer IDs of all
// nodes that may participate, at most 1024. Each strategy supports one mechanism or none.
// The keys description, unit, tags, default and stop, and description and unit of parameters and
// constraints, are for this node: they are not part of the ID (About).
//
// Names, and choices among texts, that look like numbers or true/false are written in quotes.
//
// strategies has the types of strategy that the file may name, the default first. Programs
// use strategy.Set, whose Parse calls this function.
//
// A file that names a table of designs is an error: ParseBeside reads such files.
func Parse(file string, data []byte, strategies []StrategyType) (*Task, error) {
	return newDecoder(file, strategies).parse(data)
}

// ParseBeside is Parse for a task file in a folder with a table of designs, which the key designs
// names. The table is CSV of at most 64 MiB, with a header and a column for each parameter. For a
// graph it also has the column neighbors, with the numbers of the neighboring rows, from 1,
// separated by semicolons.
//
// Errors in the table have the table's name, line and column. If the key designs has the form of
// Canonical, with a digest, ParseBeside reads no table, and the listing is absent.
func ParseBeside(folder fs.FS, file string, data []byte, strategies []StrategyType) (*Task, error) {
	d := newDecoder(file, strategies)
	d.beside = folder
	return d.parse(data)
}

func (d *decoder) parse(data []byte) (*Task, error) {
	root, failure := parseYAML(data)
	if failure != nil {
		d.errorf(failure.at, "%s", failure.message)
		return nil, d.parseError()
	}
	t := &Task{}
	if m := d.mapping(root, ""); m != nil {
		m.task(t)
	}
	if len(d.errors) == 0 && len(t.File()) > MaxFileBytes { // the file may be small although its canonical form, which contains all defaults, is not
		d.errorf(position{1, 1}, "with all defaults written out the task takes %d bytes, expected %d", len(t.File()), MaxFileBytes)
	}
	if len(d.errors) > 0 {
		return nil, d.parseError()
	}
	return t, nil
}

func (m *Section) task(t *Task) {
	m.formatVersion()
	if name, ok := m.text("name"); ok {
		if message := checkText(name, maxNameRunes); message != "" {
			m.Errorf("name", "name %s is not accepted: %s", quote(name), message)
		}
		t.Name = name
	}
	m.objectives(t)
	t.Space = m.space()
	m.designs(t)
	t.Constraints = m.constraints()
	t.Failures = Failures(m.Word("failures", string(LearnFailures), string(LearnFailures), string(IgnoreFailures), string(ConstrainFailures)))
	t.Continues = m.continues()
	m.d.constrained, m.d.several = t.Constrained(), t.Several()
	for _, s := range sections() {
		n, ok := m.get(s.key)
		part := m.d.absent(s.key, m.at)
		if ok {
			part = m.d.mapping(n, s.key)
		}
		if part != nil {
			s.parse(part, t)
		}
	}
	t.Stop = m.stop(t)
	m.checkObjectives(t)
	m.about(t)
	m.finish()
}

// formatVersion reads the key "fbo", which only canonical forms have.
func (m *Section) formatVersion() {
	n, ok := m.entries["fbo"]
	if !ok {
		return
	}
	m.get("fbo")
	m.d.complete = true
	s := m.d.scalar(n.value)
	if v, exact, message := s.number(); message != "" || !exact || v != version {
		m.errorf(nodePosition(n.value), "fbo must be %d, the version of the task format, not %s", version, s.describe())
	}
}

// space reads the parameters and the constraints among them. After an error it returns nil.
func (m *Section) space() *Space {
	items, listed := m.list("parameters")
	texts, rules, ok := m.rules()
	if !listed {
		return nil
	}
	if n := len(items); n < 1 || n > maxParameters {
		m.Errorf("parameters", "parameters must be 1 to %d, not %d", maxParameters, n)
		return nil
	}
	before := len(m.d.errors)
	parameters, parts := make([]Parameter, len(items)), make([]*Section, len(items))
	folded := map[string]string{}
	for i, item := range items {
		if parts[i] = m.d.mapping(item, fmt.Sprintf("parameter %d", i+1)); parts[i] != nil {
			parameters[i] = parts[i].parameter(folded)
		}
	}
	if len(m.d.errors) > before || !ok {
		return nil
	}
	if m.d.space != nil {
		return m.d.space
	}
	unconditional, problems := newSpace(parameters, nil)
	if m.reportSpace(problems, parts, rules); unconditional == nil {
		return nil
	}
	for i, part := range parts {
		parameters[i].When = part.conditions(unconditional)
	}
	if len(m.d.errors) > before {
		return nil
	}
	space, problems := newSpace(parameters, texts)
	m.reportSpace(problems, parts, rules)
	return space
}

// reportSpace reports the errors of a space at their positions in the file.
func (m *Section) reportSpace(problems spaceProblems, parameters []*Section, rules []ast.Node) {
	for _, message := range problems.whole {
		m.Errorf("parameters", "%s", message)
	}
	for _, one := range problems.conditions {
		of := parameters[one.parameter]
		when := m.d.mapping(of.entries["when"].value, "when")
		m.d.errorf(when.entries[one.parent].at, "%s: when: %s", of.what, one.message)
	}
	for _, one := range problems.rules {
		at := m.valueAt(rulesKey)
		if one.item >= 0 {
			at = nodePosition(rules[one.item])
		}
		m.errorf(at, "%s: %s", rulesKey, one.message)
	}
}
