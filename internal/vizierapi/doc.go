// Package vizierapi is the gRPC service of OSS Vizier on a trialserver.Server, so that programs which use
// the client of Vizier get trials of fbo. [New] returns its handler; docs/vizier.md describes its use, how
// studies and trials map to tasks and trials of fbo, and what is refused. Access control is not part of it:
// internal/httpaccess handles requests first.
//
// A study is a task, and a trial of Vizier a trial of fbo with the same ID. What a study has and a task has
// not is in one file per study in the folder vizier of the data directory: its name, its specification
// with metadata, and its state. Metadata of a trial are attributes of the trial in the journal. An operation
// has no state: its name contains the request, which can be repeated.
//
// Source: the messages and the behaviour of google-vizier 0.1.24.
package vizierapi

//go:generate go -C ../../protocol/generate run . ../../internal/vizierapi/vizierpb
