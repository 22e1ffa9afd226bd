// Command release makes the files that users download, into an empty folder:
//
//	go run ./internal/release VERSION [--snapshot] [--twice] [--platform NAME]…
//
// It builds in a clone of the commit of the tag vVERSION, from which Go stamps version and revision
// into the program; with --snapshot the working tree's files replace those of the clone. All files
// that it writes have the time of the commit, so that the same commit and the same Go give the same
// bytes. docs/releases.md describes how a release is made.
//
// It publishes nothing, signs nothing and makes no container image.
package main
