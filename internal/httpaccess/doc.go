// Package httpaccess decides who may ask a node over HTTP, and how much: a token, the
// Host header, origins, limits on bodies, rate and what is under way at once. It also
// makes the listeners, of which a Unix socket is the control socket of a node, and counts
// requests ([Counter]).
//
// A [Guard] stands before a handler and knows nothing of what the handler does. Its
// refusals are problem details (RFC 9457), as those of internal/httpapi.
//
// A token is kept from other users by the mode of its file, and from web pages since
// browsers send it for none. The Host check keeps out pages whose name has been pointed
// at this machine (DNS rebinding), and the Origin check all others: together they
// protect a token that a user has typed into a page too.
package httpaccess
