package datadir

import "golang.org/x/sys/windows"

// Free returns the disk space, in bytes, that is available to the user in a directory.
func Free(dir string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}
