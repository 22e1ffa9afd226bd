// Package httpapi is the HTTP interface of a trialserver.Server: JSON under /v1, problems in the
// form of RFC 9457, events as a stream, and OpenAPI 3.1 generated from the code at
// /v1/openapi.json.
//
// [New] defines all operations; docs/http.md describes their use. Access control is not part of it:
// internal/httpaccess handles requests first.
//
// Bodies are checked twice: against the schema, whose errors name the field and its accepted
// values, and then by the packages that define the meaning. The errors of the latter get the name
// of their field.
package httpapi
