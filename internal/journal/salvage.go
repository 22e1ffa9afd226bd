package journal

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Salvaged holds the readable part of a journal, damaged or not.
type Salvaged struct {
	Mark []byte             // as Journal.Mark returns it
	Logs map[string][]Piece // pieces of each task, in order
}

// Piece is an entry that is unchanged since it was written.
type Piece struct {
	Index uint64 // index of the entry in the log
	Gap   bool   // entries may be missing before it
	Entry
}

// Salvage reads the readable parts of the file at path and writes nothing. It takes no lock, so no
// process may write to the file. The error means that the file cannot be opened. A file without
// readable parts gives no logs.
//
// The returned entries were acknowledged, or were about to be. If the newest entry with a key is
// not readable, Salvage may return the entry before it.
func Salvage(path string) (s Salvaged, err error) {
	file, err := datadir.Open(path)
	if err != nil {
		return Salvaged{}, fmt.Errorf("journal: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Salvaged{}, fmt.Errorf("journal: %w", err)
	}
	for _, m := range headers(file) {
		if s = salvageFrom(file, info.Size(), m); len(s.Logs) > 0 {
			return s, nil
		}
	}
	return Salvaged{Logs: map[string][]Piece{}}, nil
}

// foundMeta is a header that is unchanged since it was written.
type foundMeta struct {
	meta
	pageSize int64
}

// headers returns the file's unchanged headers, the newest first.
func headers(file *os.File) (found []foundMeta) {
	for shift := 9; shift <= 16; shift++ {
		for i := range int64(metaPages) {
			if i == 0 && shift > 9 {
				continue
			}
			if m, ok := readHeader(file, i<<shift); ok && (i == 0 || m.pageSize == 1<<shift) {
				found = append(found, m)
			}
		}
	}
	slices.SortFunc(found, func(a, b foundMeta) int {
		switch {
		case a.transaction > b.transaction:
			return -1
		case a.transaction < b.transaction:
			return 1
		}
		return 0
	})
	return found
}

// Constants of bbolt's headers.
const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSize    = 64 // the last 8 bytes are the FNV-1a hash of the others
)

func readHeader(file *os.File, at int64) (m foundMeta, ok bool) {
	b := make([]byte, metaSize)
	if _, err := file.ReadAt(b, at+pageHeader); err != nil {
		return foundMeta{}, false
	}
	sum, order := fnv.New64a(), binary.NativeEndian
	_, _ = sum.Write(b[:metaSize-8])
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[metaSize-8:]) != sum.Sum64() {
		return foundMeta{}, false
	}
	m = foundMeta{metaOf(b[16:]), int64(order.Uint32(b[8:]))}
	return m, m.pageSize >= 1<<9 && m.pageSize <= 1<<16 && m.pages <= uint64(largestPage)
}

// salvager reads the pages that are reachable from a header, and skips unreadable ones. It also
// skips a page with two references, or one that is listed as free. In these cases one of the
// references is wrong, and checksums of records do not show to which task a record belongs.
type salvager struct {
	verifier
	leads map[uint64]int // number of references to each page
}

func salvageFrom(file *os.File, size int64, m foundMeta) Salvaged {
	pages := min(m.pages, uint64(size/m.pageSize))
	s := &salvager{verifier{file: file, pageSize: m.pageSize, pages: pages, seen: make([]bool, pages)}, map[uint64]int{}}
	if m.freelist != noFreelist && s.freelist(m.freelist) != nil {
		s.free = nil
	}
	s.count(m.root, deepest)
	out := Salvaged{Logs: map[string][]Piece{}}
	s.walk(m.root, deepest, func(e element) {
		switch {
		case e.flags == bucketFlag && string(e.key) == string(metaBucket):
			out.Mark = s.mark(e.value)
		case e.flags == bucketFlag && string(e.key) == string(tasksBucket):
			s.walkBucket(e.value, deepest-1, func(task element) {
				if pieces := s.log(task); len(pieces) > 0 {
					out.Logs[string(task.key)] = pieces
				}
			}, func() {})
		}
	}, func() {})
	return out
}

func (s *salvager) mark(meta []byte) (mark []byte) {
	s.walkBucket(meta, deepest-1, func(e element) {
		if entry, err := decodeRecord(markIndex, e.value); err == nil && string(e.key) == string(markKey) {
			mark = entry.Data
		}
	}, func() {})
	return mark
}

// log returns the readable entries of a task.
func (s *salvager) log(task element) (pieces []Piece) {
	if task.flags != bucketFlag || len(task.key) == 0 || len(task.key) > MaxKey {
		return nil
	}
	gap := false
	missing := func() { gap = true }
	s.walkBucket(task.value, deepest-2, func(bucket element) {
		if bucket.flags != bucketFlag || string(bucket.key) != string(entriesBucket) {
			return
		}
		s.walkBucket(bucket.value, deepest-3, func(e element) {
			if e.flags != 0 || len(e.key) != 8 {
				missing()
				return
			}
			index := binary.BigEndian.Uint64(e.key)
			entry, err := decodeRecord(index, e.value)
			if err != nil || len(pieces) > 0 && index <= pieces[len(pieces)-1].Index {
				missing()
				return
			}
			pieces = append(pieces, Piece{Index: index, Gap: gap, Entry: entry})
			gap = false
		}, missing)
	}, func() {})
	return pieces
}

// page returns a page; ok is false if the page is unreadable, has more than one reference, or is
// listed as free.
func (s *salvager) page(id uint64) ([]byte, bool) {
	page, err := s.read(id, branchPage, leafPage)
	return page, err == nil && s.leads[id] == 1 && (s.free == nil || !s.free[id])
}

// count counts the references to a page and to all pages below it.
func (s *salvager) count(id uint64, levels int) {
	if s.leads[id]++; s.leads[id] > 1 || levels == 0 {
		return
	}
	page, err := s.read(id, branchPage, leafPage)
	if err != nil {
		return
	}
	s.countElements(page, levels)
}

func (s *salvager) countElements(page []byte, levels int) {
	for i := range countOf(page) {
		e, _, ok := elementAt(page, i)
		switch {
		case !ok || levels == 0:
		case kindOf(page) == branchPage:
			s.count(e.child, levels-1)
		case e.flags == bucketFlag:
			if root, inline, ok := rootOf(e.value); !ok {
			} else if inline != nil {
				s.countElements(inline, levels-1)
			} else {
				s.count(root, levels-1)
			}
		}
	}
}

// rootOf returns the root page of a bucket. A small bucket has no root page, but contains its only
// page inline.
func rootOf(bucket []byte) (root uint64, inline []byte, ok bool) {
	if len(bucket) < bucketHeader {
		return 0, nil, false
	}
	if root = binary.NativeEndian.Uint64(bucket); root != 0 {
		return root, nil, true
	}
	inline = bucket[bucketHeader:]
	return 0, inline, len(inline) >= pageHeader && kindOf(inline) == leafPage
}

// walk calls visit for the elements of all leaves below a page, in order. At each place where
// elements may be missing it calls missing.
func (s *salvager) walk(id uint64, levels int, visit func(element), missing func()) {
	page, ok := s.page(id)
	if !ok || levels == 0 {
		missing()
		return
	}
	s.walkElements(page, levels, visit, missing)
}

func (s *salvager) walkElements(page []byte, levels int, visit func(element), missing func()) {
	for i := range countOf(page) {
		e, _, ok := elementAt(page, i)
		switch {
		case !ok:
			missing()
		case kindOf(page) == branchPage:
			s.walk(e.child, levels-1, visit, missing)
		default:
			visit(e)
		}
	}
}

func (s *salvager) walkBucket(bucket []byte, levels int, visit func(element), missing func()) {
	root, inline, ok := rootOf(bucket)
	switch {
	case !ok:
		missing()
	case inline != nil:
		s.walkElements(inline, levels, visit, missing)
	default:
		s.walk(root, levels, visit, missing)
	}
}
