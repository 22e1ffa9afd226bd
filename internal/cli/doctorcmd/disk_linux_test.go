package doctorcmd

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestRefusedChecksHaveRemedies checks what doctor advises for errors of the system.
func TestRefusedChecksHaveRemedies(t *testing.T) {
	t.Parallel()
	for cause, want := range map[syscall.Errno][2]string{
		syscall.ENOSPC: {"the disk is full: ", "free some space"},
		syscall.EDQUOT: {"quota", "raise the quota"},
		syscall.EROFS:  {"the file system is read-only: ", "mount it for writing"},
		syscall.EACCES: {"lacks the permission: ", "change the owner or the mode"},
		syscall.EPERM:  {"lacks the permission: ", "change the owner or the mode"},
	} {
		f := refused("journal", RepairJournal, &fs.PathError{Op: "open", Path: "x", Err: cause})
		if f.Grade != gradeFail || !strings.Contains(f.Finding, want[0]) || !strings.HasPrefix(f.Advice, want[1]) && !strings.Contains(f.Advice, want[1]) {
			t.Errorf("%v: %+v, want %q", cause, f, want)
		}
	}
	if f := refused("journal", RepairJournal, os.ErrNotExist); f.Advice != RepairJournal || f.Finding != os.ErrNotExist.Error() {
		t.Errorf("another error: %+v", f)
	}
}
