// Package journal stores an append-only log of records for each task, in one bbolt file per data
// directory. With it a node can be killed at any moment and resume its work: a record that
// [Log.Append] acknowledged is on the disk, and [Log.Replay] returns the records in order.
//
// The central types are [Journal], the open file, and [Log], the records of one task. Only one
// process at a time can have a journal open for writing.
//
// Every record is stored with a format version and a CRC-32C (Castagnoli) of its index in the log, its
// key and its data. Each read verifies the checksum: damage gives an error that wraps [ErrDamaged],
// and never a different history without an error. bbolt's pages have no checksums, and bbolt trusts
// their content. Therefore opening a journal first reads the whole file and verifies its structure.
//
// The package does not interpret records. It does not compact, expire or encrypt them.
package journal
