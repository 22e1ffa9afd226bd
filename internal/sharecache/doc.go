// Package sharecache stores the shares of peers on one task in a file for the next start: the newest
// share of each author, when it was sent, the receipts of private releases, the authors that the node
// distrusts, and pairs of shares that prove an equivocation.
//
// The file is a cache and no journal. It is replaced as a whole, and a damaged one is discarded:
// peers send their shares again. Its content is not trusted: the reader opens and validates each
// share as if a peer had sent it.
//
// Format: text of one JSON object a line. The first line says {"format":2,"task":ID},
// then come shares {"share":BASE64,"sent":TIME,"connected":BOOL,"conflicting_share":BASE64} and distrusted
// authors {"distrusted":PEER,"epoch":NUMBER}; the last line is {"sha256":HEX} of all
// lines before it.
package sharecache
