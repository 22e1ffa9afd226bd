package task

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Limits of a listing.
const (
	maxListed     = 100_000 // number of designs
	maxListedCube = 1 << 22 // number of designs times Space.Dim
)

// Listing is a list of the designs of a [Space], numbered from 0. It may have a graph that connects
// neighboring designs. It is immutable and safe for concurrent use.
//
// If a task was read without its table, its listing is absent ([Listing.Absent]): it has the number
// of designs and the digest of the table, but not the designs.
type Listing struct {
	space     *Space
	rows      [][]Value // values of each design; nil if the listing is absent
	encoded   []float64 // encoded designs, one after the other
	neighbors [][]int   // neighbors of each design, ascending; nil without a graph
	count     int
	digest    string // digest of rows and neighbors
	file      string

	byDesign map[string]int // number of each design, by the bytes of its encoding (placeOf)
	closest  func(u []float64) int
}

// NewListed returns the space whose only designs are the given rows, each with a value for every
// parameter. There must be 1 to 100,000 rows, no two of them equal. The number of rows times the
// number of coordinates of an encoded design must be at most 4,194,304.
//
// The argument neighbors has, for each row, the indices of its neighbors, from 0; nil means no
// graph. Every row must have a neighbor, no row may be its own neighbor, and the relation must be
// symmetric. The returned error joins all violations. The constraints are those of NewSpace.
func NewListed(parameters []Parameter, rows [][]Value, neighbors [][]int, constraints ...string) (*Space, error) {
	s, err := NewSpace(parameters, constraints...)
	if err != nil {
		return nil, err
	}
	if neighbors != nil && len(neighbors) != len(rows) {
		return nil, fmt.Errorf("task: neighbors of %d designs given; there are %d", len(neighbors), len(rows))
	}
	var faults faults
	l := s.list(rows, neighbors, &faults)
	if l == nil {
		return nil, faults.join()
	}
	return s.withListing(l), nil
}

// Within returns the space of a node that can evaluate only the given rows of s, for example
// because it has only recorded evaluations. The node then chooses among these. The restriction is
// not part of the task: the task keeps its ID, and peers may evaluate other designs, which
// [Space.Whole] encodes. The conditions on rows are those of NewListed. A space with a graph gives
// an error.
func (s *Space) Within(rows [][]Value) (*Space, error) {
	if l := s.present(); l != nil && l.Graph() {
		return nil, errors.New("task: a space with a graph of its designs has no part of which some are left out")
	}
	whole := s.Whole()
	for i, row := range rows {
		if _, err := whole.NewDesign(row...); err != nil {
			return nil, fmt.Errorf("%w (design %d)", err, i+1)
		}
	}
	unlisted := s.Unlisted()
	var faults faults
	l := unlisted.list(rows, nil, &faults)
	if l == nil {
		return nil, faults.join()
	}
	part := unlisted.withListing(l)
	part.whole = whole
	return part, nil
}

// Whole returns the space of the task. This is the space on which Within was called, or s itself if
// s is not from Within.
func (s *Space) Whole() *Space {
	if s.whole != nil {
		return s.whole
	}
	return s
}

// Unlisted returns the task's space without its listing: every combination of values that satisfies
// the constraints among parameters is a design. It costs one small allocation, and none without a
// listing.
func (s *Space) Unlisted() *Space {
	whole := s.Whole()
	if whole.listing == nil {
		return whole
	}
	unlisted := *whole
	unlisted.listing = nil
	return &unlisted
}

// list checks the designs and the graph and returns the listing, or nil after a fault. The listing
// keeps no slice of rows or neighbors.
func (s *Space) list(rows [][]Value, neighbors [][]int, f *faults) *Listing {
	if n := len(rows); n < 1 || n > maxListed {
		f.add(whole, "%d designs; accepted: 1 to %d", n, maxListed)
		return nil
	}
	if n := len(rows) * s.dim; n > maxListedCube {
		f.add(whole, "%d designs with %d coordinates each are %d numbers; accepted: up to %d", len(rows), s.dim, n, maxListedCube)
		return nil
	}
	l := &Listing{count: len(rows), rows: make([][]Value, len(rows)), encoded: make([]float64, 0, len(rows)*s.dim), byDesign: make(map[string]int, len(rows))}
	var place []byte
	for i, row := range rows {
		design, err := s.NewDesign(row...)
		if err != nil {
			f.add(i, "%s", messageOf(err))
			continue
		}
		u := s.Encode(design)
		place = placeOf(place, u)
		if first, taken := l.byDesign[string(place)]; taken && slices.Equal(l.rows[first], design.values) {
			f.add(i, "the design is that of row %d", first+1)
		} else if taken {
			f.add(i, "the design is indistinguishable from that of row %d at float precision within these bounds", first+1)
		} else {
			l.byDesign[string(place)] = i
		}
		l.rows[i], l.encoded = design.values, append(l.encoded, u...)
	}
	if neighbors != nil {
		l.neighbors = make([][]int, len(rows))
		for i, named := range neighbors {
			l.neighbors[i] = slices.Sorted(slices.Values(named))
		}
		checkGraph(l.neighbors, f)
	}
	if len(f.all) > 0 {
		return nil
	}
	l.digest = l.sum()
	l.closest = finder(l.encoded, s.dim)
	return l
}

// checkGraph adds the errors of the graph to f. Each list of neighbors must be in ascending order.
func checkGraph(neighbors [][]int, f *faults) {
	for i, named := range neighbors {
		if len(named) == 0 {
			f.add(i, "the design has no neighbor; every design needs at least one")
		}
		for k, j := range named {
			switch {
			case j < 0 || j >= len(neighbors):
				f.add(i, "neighbor %d is not there; accepted: the rows 1 to %d", j+1, len(neighbors))
			case j == i:
				f.add(i, "row %d is named as its own neighbor", j+1)
			case k > 0 && named[k-1] == j:
				f.add(i, "neighbor %d is named twice", j+1)
			case !hasNumber(neighbors[j], i):
				f.add(i, "neighbor %d does not name row %d as its neighbor", j+1, i+1)
			}
		}
	}
}

func hasNumber(ascending []int, n int) bool {
	_, found := slices.BinarySearch(ascending, n)
	return found
}

// absentListing returns a listing without designs, from its canonical form.
func absentListing(s *Space, count int, digest string) *Listing {
	return &Listing{space: s, count: count, digest: digest}
}

// withListing returns a copy of the space with the listing, whose parameters must be the same.
func (s *Space) withListing(l *Listing) *Space {
	listed, of := *s, *l
	listed.listing, of.space = &of, &listed
	return &listed
}

// Listing returns the list of the space's designs. It is nil if every combination of parameter
// values is a design.
func (s *Space) Listing() *Listing { return s.listing }

// present returns the listing if its designs are known, else nil.
func (s *Space) present() *Listing {
	if s.listing.Absent() {
		return nil
	}
	return s.listing
}

// Absent reports whether the designs are unknown because the task was read without its table. Such
// a listing has only a length and a digest, and the space behaves as if every combination of
// parameter values were a design. A nil Listing is not absent.
func (l *Listing) Absent() bool { return l != nil && l.rows == nil }

// Len returns the number of designs, 1 to 100,000.
func (l *Listing) Len() int { return l.count }

// File returns the path of the table as written in the task file, or "" if the designs are not from
// a table.
func (l *Listing) File() string { return l.file }

// Design returns design number i. It panics if there is no such design or the listing is absent.
func (l *Listing) Design(i int) Design { return Design{space: l.space, values: l.rows[i]} }

// Encode writes the encoding of design number i to u, which must have length Space.Dim. It panics
// if there is no such design or the listing is absent.
func (l *Listing) Encode(u []float64, i int) {
	l.space.checkDim(u)
	copy(u, l.encoded[i*len(u):(i+1)*len(u)])
}

// Index returns the number of a design; ok is false if the design is not listed.
func (l *Listing) Index(d Design) (i int, ok bool) {
	if l.Absent() || d.IsZero() || l.space.checkValues(d) != nil {
		return 0, false
	}
	return l.index(d.values)
}

// index returns the number of the design with these values, which the parameters must accept.
func (l *Listing) index(values []Value) (i int, ok bool) {
	i, ok = l.byDesign[string(placeOf(nil, l.space.encode(values)))]
	return i, ok && slices.Equal(l.rows[i], values)
}

// Graph reports whether the listing has a graph of neighbors.
func (l *Listing) Graph() bool { return l.neighbors != nil }

// Neighbors returns the numbers of design i's neighbors, ascending. It is nil without a graph. The
// caller must not change the slice.
func (l *Listing) Neighbors(i int) []int {
	if l.neighbors == nil {
		return nil
	}
	return l.neighbors[i]
}

// Within returns the numbers of the designs that are reachable from design i in at most the given
// number of moves, ascending and without i itself. Each move goes to a neighbor. It is nil without
// a graph.
func (l *Listing) Within(i, steps int) []int {
	if l.neighbors == nil {
		return nil
	}
	reached, last := map[int]bool{i: true}, []int{i}
	var all []int
	for range steps {
		var next []int
		for _, from := range last {
			for _, to := range l.neighbors[from] {
				if !reached[to] {
					reached[to] = true
					next = append(next, to)
				}
			}
		}
		all, last = append(all, next...), next
	}
	slices.Sort(all)
	return all
}

// nearest returns the number of the design whose encoding has the smallest Euclidean distance from
// u. Among equal distances it is the first design. All coordinates of u must be in [0, 1].
func (l *Listing) nearest(u []float64) int {
	var room [16 * 8]byte // large enough for most spaces, so that no memory is allocated
	if i, ok := l.byDesign[string(placeOf(room[:0], u))]; ok {
		return i
	}
	return l.closest(u)
}

// placeOf returns the bytes of an encoded design, as a key of byDesign. It reuses the memory of b.
func placeOf(b []byte, u []float64) []byte {
	b = b[:0]
	for _, x := range u {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// sum returns the digest: the SHA-256 hash of one line for each design. A line is the JSON list of
// the design's values. With a graph, its last element is the list of the neighbors' numbers, which
// count from 1.
func (l *Listing) sum() string {
	h := sha256.New()
	for i, row := range l.rows {
		form := make([]any, len(row), len(row)+1)
		for k, v := range row {
			form[k] = v
			if v == (Value{}) {
				form[k] = nil
			}
		}
		if l.neighbors != nil {
			numbers := make([]int, len(l.neighbors[i]))
			for k, j := range l.neighbors[i] {
				numbers[k] = j + 1
			}
			form = append(form, numbers)
		}
		text, err := marshal(form)
		if err != nil {
			panic(err) // cannot happen: a design has only finite numbers
		}
		h.Write(append(text, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}
