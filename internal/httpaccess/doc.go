// Package httpaccess decides which HTTP requests a node accepts: it checks the token, the Host
// header and origins, and limits bodies, the rate and concurrent requests. It also provides the
// listeners, of which a Unix socket is the control socket of a node, and counts requests
// ([Counter]).
//
// A [Policy] protects a handler and knows nothing of the handler's work. Its refusals are problem
// details (RFC 9457), as those of internal/httpapi.
//
// The mode of its file protects a token from other users. Web pages cannot send it, because
// browsers do not add it to their requests. The Host check refuses pages whose name was made to
// resolve to this machine (DNS rebinding), and the Origin check all other pages. Together they also
// protect a token that a user has typed into a page.
package httpaccess
