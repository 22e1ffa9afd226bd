package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
)

// This file verifies a journal before bbolt uses it. bbolt reads its file through a memory map and
// trusts the content of pages, so a damaged page can end the process with a memory fault. The
// verification reads the file without the map.

// Layout of bbolt's files, in the byte order of the machine. Numbers in parentheses are sizes in
// bytes.
const (
	pageHeader   = 16 // id (8), kind (2), count (2), number of further pages (4)
	pageElement  = 16 // leaf: flags, offset, size of key, size of value (4 each); branch: offset, size of key (4 each), child page (8)
	bucketHeader = 16 // root page (8), sequence (8)
	metaPages    = 2

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketFlag   = 1              // flag of an element of a leaf whose value is a bucket
	longFreelist = 1<<16 - 1      // in the header of a free list: the first element of the list is the count
	noFreelist   = ^uint64(0)     // in place of the page of the free list: the list is not stored
	deepest      = 64             // maximum depth of pages and buckets; a journal has four levels of buckets with few levels of pages each
	largestPage  = int64(1) << 40 // maximum number of pages; far more than a journal needs
)

// meta holds those fields of a header page that this package uses.
type meta struct {
	root, freelist, pages, transaction uint64
}

// verify returns an error that describes the damage of an open file, or nil if bbolt can safely use
// it. It does not verify the checksums of the records.
func verify(db *bolt.DB, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	v := &verifier{file: file, pageSize: int64(db.Info().PageSize)}
	tx, err := db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	m, err := v.newest(uint64(tx.ID()))
	if err != nil {
		return err
	}
	if least := int64(m.pages) * v.pageSize; m.pages > uint64(largestPage) || info.Size() < least {
		return fmt.Errorf("it has %d bytes and must have %d at least: its end is missing", info.Size(), least)
	}
	return v.pagesOf(m)
}

type verifier struct {
	file     io.ReaderAt
	pageSize int64
	pages    uint64
	seen     []bool // pages that have a reference
	free     []bool // pages in the free list; nil without such a list
}

func metaOf(b []byte) meta {
	order := binary.NativeEndian
	return meta{root: order.Uint64(b), freelist: order.Uint64(b[16:]), pages: order.Uint64(b[24:]), transaction: order.Uint64(b[32:])}
}

// newest returns the header of the newest complete transaction. The other header must belong to the
// transaction before it. Otherwise that header is damaged, and may have belonged to a newer
// transaction.
func (v *verifier) newest(transaction uint64) (meta, error) {
	var read [metaPages]meta
	for i := range read {
		page := make([]byte, pageHeader+64)
		if _, err := v.file.ReadAt(page, int64(i)*v.pageSize); err != nil {
			return meta{}, err
		}
		b := page[pageHeader+16:] // after magic, version, page size and flags
		read[i] = metaOf(b)
	}
	newest, other := read[transaction%metaPages], read[(transaction+1)%metaPages]
	if newest.transaction != transaction {
		return meta{}, errors.New("its headers contradict each other")
	}
	if transaction > 0 && other.transaction != transaction-1 {
		return meta{}, errors.New("one of its two headers is destroyed, so that its last records may be missing")
	}
	return newest, nil
}

// pagesOf follows all references from a header. Each page must either have exactly one reference or
// be listed as free.
func (v *verifier) pagesOf(m meta) error {
	v.pages, v.seen = m.pages, make([]bool, m.pages)
	if m.freelist != noFreelist {
		if err := v.freelist(m.freelist); err != nil {
			return err
		}
	}
	if err := v.tree(m.root, deepest, nil, nil); err != nil {
		return err
	}
	for id := uint64(metaPages); id < m.pages && v.free != nil; id++ {
		switch {
		case v.seen[id] && v.free[id]:
			return fmt.Errorf("page %d is used and listed as free", id)
		case !v.seen[id] && !v.free[id]:
			return fmt.Errorf("page %d is neither used nor listed as free", id)
		}
	}
	return nil
}

// page reads a page, with its further pages, which must be of one of the given kinds. It returns an
// error if the page is used twice.
func (v *verifier) page(id uint64, kinds ...uint16) ([]byte, error) {
	page, err := v.read(id, kinds...)
	if err != nil {
		return nil, err
	}
	for i := id; i < id+uint64(len(page))/uint64(v.pageSize); i++ {
		if v.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		v.seen[i] = true
	}
	return page, nil
}

// read is page without the check for double use.
func (v *verifier) read(id uint64, kinds ...uint16) ([]byte, error) {
	if id < metaPages || id >= v.pages {
		return nil, fmt.Errorf("something leads to page %d, which does not exist", id)
	}
	head := make([]byte, pageHeader)
	if _, err := v.file.ReadAt(head, int64(id)*v.pageSize); err != nil {
		return nil, err
	}
	further := uint64(binary.NativeEndian.Uint32(head[12:]))
	if found := binary.NativeEndian.Uint64(head); found != id {
		return nil, fmt.Errorf("page %d says that it is page %d", id, found)
	}
	if further >= v.pages-id {
		return nil, fmt.Errorf("page %d goes on beyond the end", id)
	}
	if kind := kindOf(head); kind != kinds[0] && kind != kinds[len(kinds)-1] {
		return nil, fmt.Errorf("page %d is of the wrong kind (%#x)", id, kind)
	}
	page := make([]byte, int64(1+further)*v.pageSize)
	_, err := v.file.ReadAt(page, int64(id)*v.pageSize)
	return page, err
}

func kindOf(page []byte) uint16 { return binary.NativeEndian.Uint16(page[8:]) }
func countOf(page []byte) int   { return int(binary.NativeEndian.Uint16(page[10:])) }

func (v *verifier) freelist(id uint64) error {
	page, err := v.page(id, freelistPage)
	if err != nil {
		return err
	}
	ids, count := page[pageHeader:], uint64(countOf(page))
	if count == longFreelist {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return fmt.Errorf("page %d lists more free pages than it has room for", id)
	}
	v.free = make([]bool, v.pages)
	for i := range count {
		free := binary.NativeEndian.Uint64(ids[8*i:])
		if free < metaPages || free >= v.pages {
			return fmt.Errorf("page %d lists page %d as free, which does not exist", id, free)
		}
		if v.free[free] {
			return fmt.Errorf("page %d lists page %d as free twice", id, free)
		}
		v.free[free] = true
	}
	return nil
}

// tree verifies a page of a bucket and all pages below it. All keys must be at least low and less
// than high; nil means no limit.
func (v *verifier) tree(id uint64, levels int, low, high []byte) error {
	if levels == 0 {
		return errors.New("its pages are nested without end")
	}
	page, err := v.page(id, branchPage, leafPage)
	if err != nil {
		return err
	}
	if kindOf(page) == branchPage && countOf(page) == 0 {
		return fmt.Errorf("page %d leads nowhere", id)
	}
	if err := v.elements(page, levels, low, high); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// element is an element of a page. In a leaf it has a key and its value, which may be a bucket. In
// a branch it has the number of a child page and the smallest key there.
type element struct {
	key, value []byte
	flags      uint32
	child      uint64
}

// elements verifies the elements of a page and follows their references. bbolt writes the keys and
// values without gaps after the elements, so the offset of each is known in advance.
func (v *verifier) elements(page []byte, levels int, low, high []byte) error {
	count := countOf(page)
	if pageHeader+pageElement*count > len(page) {
		return errors.New("has more elements than room")
	}
	all, next := make([]element, count), pageHeader+pageElement*count
	for i := range all {
		at, ok := 0, false
		if all[i], at, ok = elementAt(page, i); !ok || at != next {
			return fmt.Errorf("element %d lies in a wrong place", i)
		}
		next += len(all[i].key) + len(all[i].value)
		if bytes.Compare(all[i].key, low) < 0 || i > 0 && bytes.Equal(all[i].key, low) || high != nil && bytes.Compare(all[i].key, high) >= 0 {
			return fmt.Errorf("element %d is not in order", i)
		}
		low = all[i].key
	}
	for i, e := range all {
		var err error
		switch {
		case kindOf(page) == branchPage:
			end := high
			if i+1 < count {
				end = all[i+1].key
			}
			err = v.tree(e.child, levels-1, e.key, end)
		case e.flags == bucketFlag:
			err = v.bucket(e.value, levels-1)
		case e.flags != 0:
			err = fmt.Errorf("element %d is of an unknown kind (%#x)", i, e.flags)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// elementAt returns an element of a page and the position of its key; ok is false if the element is
// not within the page.
func elementAt(page []byte, i int) (e element, at int, ok bool) {
	from := pageHeader + pageElement*i
	if from+pageElement > len(page) {
		return element{}, 0, false
	}
	head, order := page[from:from+pageElement], binary.NativeEndian
	var offset, key, value uint32
	if kindOf(page) == leafPage {
		e.flags, offset, key, value = order.Uint32(head), order.Uint32(head[4:]), order.Uint32(head[8:]), order.Uint32(head[12:])
	} else {
		offset, key, e.child = order.Uint32(head), order.Uint32(head[4:]), order.Uint64(head[8:])
	}
	begin := int64(from) + int64(offset)
	end := begin + int64(key) + int64(value)
	if end > int64(len(page)) {
		return element{}, 0, false
	}
	e.key, e.value = page[begin:begin+int64(key)], page[begin+int64(key):end]
	return e, int(begin), true
}

// bucket verifies a bucket from its root page on. A small bucket contains its root page inline.
func (v *verifier) bucket(content []byte, levels int) error {
	if len(content) < bucketHeader || levels == 0 {
		return errors.New("a bucket has no header")
	}
	if root := binary.NativeEndian.Uint64(content); root != 0 {
		return v.tree(root, levels, nil, nil)
	}
	inline := content[bucketHeader:]
	if len(inline) < pageHeader || kindOf(inline) != leafPage {
		return errors.New("a bucket has no page")
	}
	return v.elements(inline, levels, nil, nil)
}
