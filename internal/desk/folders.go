package desk

import (
	"errors"
	"os"
	"runtime"
)

// syncFolders makes names in folders as durable as contents. Windows cannot sync folders
// and does not need it.
func syncFolders(folders ...string) (err error) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, folder := range folders {
		f, failed := os.Open(folder)
		if failed == nil {
			failed = errors.Join(f.Sync(), f.Close())
		}
		err = errors.Join(err, failed)
	}
	return err
}
