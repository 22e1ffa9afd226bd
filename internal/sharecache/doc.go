// Package heard keeps in a file what a node has heard from its peers on one task,
// so that the next start knows it: the newest share of each author, when it was
// sent, how far the authors' accounts of private releases have come, whom the node no
// longer believes, and pairs of shares that contradict each other.
//
// The file is a cache and no journal. It is replaced as a whole, and
// a damaged one is worth nothing: peers tell their shares again. Nothing in it is
// believed because it is there; whoever reads it opens and judges each share as if
// a peer had told it.
//
// Format: text of one JSON object a line. The first line says {"format":1,"task":ID},
// then come shares {"share":BASE64,"sent":TIME,"met":BOOL,"contradicts":BASE64} and authors who are not
// believed {"distrusted":PEER,"epoch":NUMBER}; the last line is {"sha256":HEX} of all
// lines before it.
package sharecache
