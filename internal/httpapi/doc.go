// Package httpapi is the HTTP interface of a trialserver.Server: JSON under /v1, problems as RFC
// 9457 has them, events as a stream, and OpenAPI 3.1 made from the code at /v1/openapi.json.
//
// [New] defines all operations; docs/http.md describes their use. Access control is not part of it:
// internal/httpaccess handles requests first.
//
// Bodies are checked twice: against the schema, which names the field and what it
// accepts, and then by the packages that own the meaning, whose errors are given the
// field that they are about.
package httpapi
