// Package store reads and writes the data directory of a node: the journal with its backup and its
// repair, the identity, invitations, the addresses of the last start, and the shares and addresses
// of peers. A running node holds a Store. Commands open an Archive of a node that has ended. The
// package does not depend on hosts or networks.
package store
