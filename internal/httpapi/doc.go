// Package httpapi is the HTTP interface of a desk: JSON under /v1, problems as RFC 9457
// has them, events as a stream, and OpenAPI 3.1 made from the code at /v1/openapi.json.
//
// Everything is said by [New]; docs/http.md tells how to use it. Who may ask is not its
// business: internal/httpaccess stands before it.
//
// Bodies are checked twice: against the schema, which names the field and what it
// accepts, and then by the packages that own the meaning, whose errors are given the
// field that they are about.
package httpapi
