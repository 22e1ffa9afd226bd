//go:build !unix || solaris || aix || android

package journal

import (
	"os"
	"time"
)

// Lock does nothing on these systems. Windows does not allow replacing a file that a process has
// open. On the others the user must end the process.
func Lock(string, time.Duration) (unlock func(), err error) { return func() {}, nil }

// unlocker returns a function that does nothing: closing the file ends its lock, or there is no
// lock.
func unlocker(*os.File) (unlock func()) { return func() {} }
