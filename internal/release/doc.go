// Command release builds the files that users download, in an empty folder:
//
//	go run ./internal/release VERSION [--snapshot] [--twice] [--platform NAME]…
//
// It builds in a clone of the commit with the tag vVERSION, so that Go records version and revision
// in the program. With --snapshot the files of the working tree replace those of the clone. All files
// in the archives have the time of the commit, so that the same commit and the same version of Go give
// the same bytes. docs/releases.md describes how to make a release.
//
// With --prepare it makes the commit of a version, for a person to review and tag, and builds nothing.
//
// With --sign-key it signs the checksums. It publishes nothing.
package main
