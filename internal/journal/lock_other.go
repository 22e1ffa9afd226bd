//go:build !unix || solaris || aix || android

package journal

import (
	"os"
	"time"
)

// Lock does nothing here. Windows itself refuses to replace a file that a process has
// open; on the other systems it is the user's to end the process.
func Lock(string, time.Duration) (unlock func(), err error) { return func() {}, nil }

// unlocker returns nothing to do: the lock ends with the file, or there is none.
func unlocker(*os.File) (unlock func()) { return func() {} }
