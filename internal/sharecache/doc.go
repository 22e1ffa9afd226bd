// Package sharecache stores the shares of peers on one task in a file for the next start. The file has
// the newest share of each author, with the time at which it was sent. It also has the receipts of DP
// releases, the authors whose shares are ignored, and pairs of shares that prove an equivocation.
//
// The file is a cache and not a journal. It is replaced as a whole, and a damaged file is discarded,
// because peers send their shares again. Its content is not trusted: the reader opens and validates
// each share as if a peer had sent it.
//
// The format is text with one JSON object per line. The first line is {"format":2,"task":ID}. Then come
// shares, {"share":BASE64,"sent":TIME,"connected":BOOL,"conflicting_share":BASE64}, and ignored
// authors, {"distrusted":PEER,"epoch":NUMBER}. The last line is {"sha256":HEX}, the hash of all lines
// before it.
package sharecache
