package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
)

// bbolt reads its file through a memory map and believes what the pages say of
// themselves, so that a damaged page ends the process by a fault of memory. Each
// journal is therefore read the ordinary way before bbolt trusts it.

// Layout of bbolt's file, in the byte order of the machine.
const (
	pageHeader   = 16 // id (8), kind (2), count (2), further pages (4)
	pageElement  = 16 // leaf: flags, offset, key, value (4 each); branch: offset, key (4 each), child (8)
	bucketHeader = 16 // root page (8), sequence (8)
	metaPages    = 2

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketFlag   = 1              // of a leaf's element
	longFreelist = 1<<16 - 1      // the count of a free list whose first element is the count
	noFreelist   = ^uint64(0)     // the free list is not stored
	deepest      = 64             // levels of pages and buckets; a journal has four buckets and few levels each
	largestPage  = int64(1) << 40 // bytes; far more than a record
)

// meta is the part of a header page that matters here.
type meta struct {
	root, freelist, pages, transaction uint64
}

// verify tells what is wrong with an open file, nil when bbolt can trust it. The
// checksums of the records are not checked.
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
	v.seen = make([]bool, m.pages)
	if err := v.pagesOf(m); err != nil {
		return err
	}
	return check(tx)
}

// check is bbolt's own: the order of keys, and that each page is used once or free.
func check(tx *bolt.Tx) (first error) {
	for err := range tx.Check() {
		if first == nil {
			first = err
		}
	}
	return first
}

type verifier struct {
	file     io.ReaderAt
	pageSize int64
	seen     []bool // pages that something leads to
}

// newest reads the header of the newest transaction that is whole. Of the two
// headers the other belongs to the transaction before; when it is damaged and not
// clearly so, what it said may have been newer.
func (v *verifier) newest(transaction uint64) (meta, error) {
	var read [metaPages]meta
	for i := range read {
		page := make([]byte, pageHeader+64)
		if _, err := v.file.ReadAt(page, int64(i)*v.pageSize); err != nil {
			return meta{}, err
		}
		b := page[pageHeader+16:] // after magic, version, page size, flags
		order := binary.NativeEndian
		read[i] = meta{root: order.Uint64(b), freelist: order.Uint64(b[16:]), pages: order.Uint64(b[24:]), transaction: order.Uint64(b[32:])}
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

func (v *verifier) pagesOf(m meta) error {
	if m.freelist != noFreelist {
		if err := v.freelist(m.freelist); err != nil {
			return err
		}
	}
	return v.tree(m.root, deepest)
}

// page reads a page of one of these kinds with all that belongs to it.
func (v *verifier) page(id uint64, kinds ...uint16) ([]byte, error) {
	if id < metaPages || id >= uint64(len(v.seen)) {
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
	if further >= uint64(len(v.seen))-id {
		return nil, fmt.Errorf("page %d goes on beyond the end", id)
	}
	if kind := kindOf(head); kind != kinds[0] && kind != kinds[len(kinds)-1] {
		return nil, fmt.Errorf("page %d is of the wrong kind (%#x)", id, kind)
	}
	for i := id; i <= id+further; i++ {
		if v.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		v.seen[i] = true
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
	for i := range count {
		if free := binary.NativeEndian.Uint64(ids[8*i:]); free < metaPages || free >= uint64(len(v.seen)) {
			return fmt.Errorf("page %d lists page %d as free, which does not exist", id, free)
		}
	}
	return nil
}

// tree reads a page of a bucket and all that it leads to.
func (v *verifier) tree(id uint64, levels int) error {
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
	if err := v.elements(page, levels); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements follows a page's elements. bbolt writes keys and values one after the
// other behind them, so each offset is known beforehand.
func (v *verifier) elements(page []byte, levels int) error {
	count, order := countOf(page), binary.NativeEndian
	next := pageHeader + pageElement*count
	for i := range count {
		at := pageHeader + pageElement*i
		if at+pageElement > len(page) {
			return errors.New("has more elements than room")
		}
		e := page[at : at+pageElement]
		leaf := kindOf(page) == leafPage
		offset, key, value := order.Uint32(e), order.Uint32(e[4:]), uint32(0)
		if leaf {
			offset, key, value = order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
		}
		end := int64(next) + int64(key) + int64(value)
		if int64(at)+int64(offset) != int64(next) || end > int64(len(page)) {
			return fmt.Errorf("element %d lies in a wrong place", i)
		}
		content := page[next+int(key) : end]
		next = int(end)
		var err error
		switch flags := order.Uint32(e); {
		case !leaf:
			err = v.tree(order.Uint64(e[8:]), levels-1)
		case flags == bucketFlag:
			err = v.bucket(content, levels-1)
		case flags != 0:
			err = fmt.Errorf("element %d is of an unknown kind (%#x)", i, flags)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket follows a bucket to its root page, which a small one holds itself.
func (v *verifier) bucket(content []byte, levels int) error {
	if len(content) < bucketHeader || levels == 0 {
		return errors.New("a bucket has no header")
	}
	if root := binary.NativeEndian.Uint64(content); root != 0 {
		return v.tree(root, levels)
	}
	inline := content[bucketHeader:]
	if len(inline) < pageHeader || kindOf(inline) != leafPage {
		return errors.New("a bucket has no page")
	}
	return v.elements(inline, levels)
}
