// Command release makes what users download, into an empty folder:
//
//	go run ./internal/release VERSION [--snapshot] [--twice] [--platform NAME]…
//
// It builds in a clone of the commit that the tag vVERSION names, from which Go stamps
// version and revision into the program; with --snapshot the working tree's files lie over
// the clone. Everything that it writes has the time of the commit, so that the same commit
// and the same Go give the same bytes. docs/releases.md says how a release is made.
//
// It publishes nothing, signs nothing and makes no container image.
package main
