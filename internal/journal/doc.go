// Package journal keeps an append-only log of records for each task, in one bbolt file per data
// directory. It lets a node be killed at any moment and resume its work: a record that [Log.Append]
// acknowledged is on the disk, and [Log.Replay] returns the records in order.
//
// The central types are [Journal], the open file, and [Log], the records of one task. Only one
// process at a time can have a journal open for writing.
//
// Every record is stored with a format version and a CRC-32C (Castagnoli) that covers its index in
// the log, its key and its data. The checksum is tested whenever the record is read: damage is an
// error that wraps [ErrDamaged], never a silently different history. Pages have no checksums, and
// bbolt trusts them. Therefore opening a journal reads all of it and verifies its structure first.
//
// The package does not know the meaning of records, does not compact or expire them, and does not
// encrypt them.
package journal
