package task

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxTableBytes = 64 << 20

	// neighborsColumn is the name of the column with the graph.
	neighborsColumn = "neighbors"
)

// movesLimit is the largest value of the key max_moves.
const movesLimit = 2

// designs reads the optional section designs. The task's parameters must have been read.
func (m *Section) designs(t *Task) {
	n, ok := m.get("designs")
	if !ok {
		return
	}
	part := m.d.mapping(n, "designs")
	if part == nil {
		return
	}
	t.MaxMoves = part.Whole("max_moves", 0, 1, movesLimit)
	var l *Listing
	if _, written := part.entries["sha256"]; written {
		l = part.writtenListing(t.Space)
	} else if name, ok := part.text("file"); ok && t.Space != nil {
		l = part.table(name, t.Space, t.MaxMoves)
	}
	part.finish()
	if l != nil {
		t.Space = t.Space.withListing(l)
	}
}

// writtenListing returns the listing of a section in the form of Canonical, with count and sha256.
// Its designs are known only if the decoder has a listing with the same digest; otherwise the
// listing is absent.
func (m *Section) writtenListing(s *Space) *Listing {
	m.Refuse("file", "a task file that does not say count and sha256, which stand for the table")
	before := len(m.d.errors)
	m.require("count")
	count := m.Whole("count", 0, 1, maxListed)
	digest, ok := m.text("sha256")
	if ok && (len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "") {
		m.Errorf("sha256", "sha256 must be 64 digits 0 to 9 and a to f, not %s", quote(digest))
	}
	if len(m.d.errors) > before || s == nil {
		return nil
	}
	if given := m.d.listing; given != nil && given.digest == digest && given.count == count {
		return given
	}
	return absentListing(s, count, digest)
}

// table reads the table with this name and returns its listing. After an error it returns nil.
func (m *Section) table(name string, s *Space, maxMoves int) *Listing {
	data, message := m.d.read(name)
	if message != "" {
		m.Errorf("file", "file %s: %s", quote(name), message)
		return nil
	}
	shown := filepath.Join(filepath.Dir(m.d.file), name)
	rows, problem := readTable(data, s)
	if problem == nil && maxMoves > 0 && rows.neighbors == nil {
		problem = &tableError{1, 1, "max_moves needs a column " + neighborsColumn + ", which the table does not have"}
	}
	if problem != nil {
		m.d.errors = append(m.d.errors, &Error{File: shown, Line: problem.line, Column: problem.column, Message: problem.message})
		return nil
	}
	var f faults
	l := s.list(rows.values, rows.neighbors, &f)
	for _, one := range f.all {
		line := 1
		if one.row != whole {
			line = rows.lines[one.row]
		}
		m.d.errors = append(m.d.errors, &Error{File: shown, Line: line, Column: 1, Message: one.message})
	}
	m.d.omitted += f.omitted
	if l != nil {
		l.file = name
	}
	return l
}

// read returns the content of a file in the task file's folder, or an error message.
func (d *decoder) read(name string) (data []byte, message string) {
	switch {
	case d.beside == nil:
		return nil, "tables are read from beside a task file, and this task is read without"
	case !fs.ValidPath(name) || name == ".":
		return nil, "must be the path of a table in the folder of the task file or below it, with / between folders"
	}
	file, err := d.beside.Open(name)
	if err == nil {
		defer file.Close()
		data, err = io.ReadAll(io.LimitReader(file, maxTableBytes+1))
	}
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed):
		return nil, failed.Err.Error()
	case err != nil:
		return nil, err.Error()
	case len(data) > maxTableBytes:
		return nil, "more than 64 MiB, the maximum"
	}
	return data, ""
}

// table is a parsed table whose rows have not been compared with each other.
type table struct {
	values    [][]Value // values of each row, in the order of the space's parameters
	neighbors [][]int   // neighbors of each row, from 0; nil without the column
	lines     []int     // line number of each row in the file
}

// tableError is an error in a cell of a table. Its column counts bytes.
type tableError struct {
	line, column int
	message      string
}

// readTable parses CSV with a header and a column for each parameter, in any order. For a graph
// there is also the column neighbors: numbers of rows, from 1, separated by semicolons. It stops at
// the first error.
func readTable(data []byte, s *Space) (table, *tableError) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return table{}, &tableError{1, 1, "the table is not valid UTF-8"}
	}
	r := csv.NewReader(bytes.NewReader(data))
	header, err := r.Read()
	if err == io.EOF {
		return table{}, &tableError{1, 1, "the table is empty; it needs a line with the names of the columns: " + s.names()}
	}
	if err != nil {
		return table{}, csvError(err)
	}
	at, graph, problem := s.columns(header, r)
	if problem != nil {
		return table{}, problem
	}
	var t table
	for {
		record, err := r.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return table{}, csvError(err)
		}
		line, _ := r.FieldPos(0)
		if len(t.values) == maxListed {
			return table{}, &tableError{line, 1, "more than 100000 designs, the maximum"}
		}
		row := make([]Value, len(at))
		for i, column := range at {
			if row[i], err = s.ParseValue(s.parameters[i].Name, record[column]); err != nil {
				return table{}, cellError(r, column, messageOf(err))
			}
		}
		t.values, t.lines = append(t.values, row), append(t.lines, line)
		if graph >= 0 {
			named, message := numbers(record[graph])
			if message != "" {
				return table{}, cellError(r, graph, message)
			}
			t.neighbors = append(t.neighbors, named)
		}
	}
}

// columns returns the index of each parameter's column, and that of the column neighbors, or -1
// without it.
func (s *Space) columns(header []string, r *csv.Reader) (at []int, graph int, problem *tableError) {
	accepted := s.names() + ", " + neighborsColumn
	if _, taken := s.index[neighborsColumn]; taken {
		return nil, 0, &tableError{1, 1, "no parameter can be called " + neighborsColumn + ", which is the column of the graph"}
	}
	at, graph = make([]int, len(s.parameters)), -1
	seen := map[string]bool{}
	for column, name := range header {
		name = strings.TrimSpace(name)
		i, known := s.index[name]
		switch {
		case seen[name]:
			return nil, 0, cellError(r, column, "column "+quote(name)+" is repeated")
		case known:
			at[i] = column
		case name == neighborsColumn:
			graph = column
		default:
			return nil, 0, cellError(r, column, "unknown column "+quote(name)+"; accepted: "+accepted)
		}
		seen[name] = true
	}
	for _, p := range s.parameters {
		if !seen[p.Name] {
			return nil, 0, cellError(r, 0, "missing column "+quote(p.Name)+"; each parameter has one")
		}
	}
	return at, graph, nil
}

// numbers parses a cell of the column neighbors, and returns the numbers of rows from 0, or an
// error message.
func numbers(cell string) (all []int, message string) {
	if strings.TrimSpace(cell) == "" {
		return nil, ""
	}
	for text := range strings.SplitSeq(cell, ";") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, "neighbors must be numbers of rows, from 1, with ; between them, not " + quote(cell)
		}
		all = append(all, n-1)
	}
	return all, ""
}

func cellError(r *csv.Reader, field int, message string) *tableError {
	line, column := r.FieldPos(field)
	return &tableError{line, column, message}
}

func csvError(err error) *tableError {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return &tableError{1, 1, err.Error()}
	}
	message := parse.Err.Error()
	if errors.Is(err, csv.ErrFieldCount) {
		message = "another number of columns than in the first line"
	}
	return &tableError{parse.Line, max(parse.Column, 1), message}
}

// canonicalDesigns returns the canonical form of the section designs, or nil without a listing.
func canonicalDesigns(l *Listing, maxMoves int) map[string]any {
	if l == nil {
		return nil
	}
	form := map[string]any{"count": l.count, "sha256": l.digest}
	if maxMoves != 0 {
		form["max_moves"] = maxMoves
	}
	return form
}

// sameParameters reports whether two spaces have the same parameters and constraints among them, so
// that a listing of one fits the other.
func sameParameters(a, b *Space) bool {
	one, first := marshal(canonicalParameters(a))
	other, second := marshal(canonicalParameters(b))
	return first == nil && second == nil && bytes.Equal(one, other) && slices.Equal(a.ParameterConstraints(), b.ParameterConstraints())
}
