// Package dialbudget bounds what a node does at addresses that it has only heard of, and
// remembers which have answered. Anybody can sign that it is to be reached at somebody
// else's address; a node that believed it would attack for him.
//
// An attempt takes one from the budget of the address and one from that of its range, and
// gets both back when the peer that was looked for answers there. So a hundred nodes
// behind one address are reached as fast as they answer, and an address where nobody
// does is left alone: it sees 4 attempts at once and one in 15 s after that, its range 16 and one
// in 5 s. Who told of the address has a budget too.
package dialbudget
