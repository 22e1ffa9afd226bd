// Package store reads and writes the data that a node keeps in its data directory: the journal, its
// backup and its repair, the identity, invitations, the addresses of the last start, the shares and
// the addresses of peers. A running node holds a Store. Commands open an Archive of a node that has
// ended. The package does not depend on hosts or networks.
package store
