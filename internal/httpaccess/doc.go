// Package httpaccess decides which HTTP requests a node accepts. It checks the token, the Host header
// and the Origin header, and limits the size of bodies, the rate of requests and the number of
// concurrent ones. It also creates the listeners, one of which is the Unix socket for control of a
// node, and counts requests ([Counter]).
//
// A [Policy] protects a handler without knowing what the handler does. Its refusals are problem
// details (RFC 9457), as those of internal/httpapi.
//
// The file with the token can be read by its owner only. Web pages cannot send the token, because
// browsers do not add it to their requests. The Host check refuses web pages whose domain name was
// made to resolve to this machine (DNS rebinding), and the Origin check refuses all other pages.
// Together they also protect a token that a user has typed into a page.
package httpaccess
