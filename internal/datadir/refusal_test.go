package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplainNamesRemedies checks that each refusal of the system has a sentence and a remedy of its own.
func TestExplainNamesRemedies(t *testing.T) {
	causes := map[string]error{"lacks the permission": fs.ErrPermission}
	for kind, problem := range map[refused]string{diskFull: "the disk is full", overQuota: "quota", tooLarge: "largest size", readOnly: "is read-only"} {
		for _, code := range codesOf(kind) {
			causes[problem] = code
		}
	}
	if len(causes) != 5 {
		t.Errorf("%d refusals have error codes, want 5", len(causes))
	}
	remedies := map[string]bool{}
	for problem, cause := range causes {
		err := fmt.Errorf("journal: %w", &fs.PathError{Op: "write", Path: "journal.db", Err: cause})
		explained := Explain(err)
		r := RefusalOf(err)
		if r == nil || !strings.Contains(r.Problem, problem) || !errors.Is(explained, cause) {
			t.Errorf("%v: explained as %+v", err, r)
			continue
		}
		if want := err.Error() + ": " + r.Problem + "; " + r.Remedy; explained.Error() != want {
			t.Errorf("%v: text %q, want %q", err, explained, want)
		}
		remedies[r.Remedy] = true
		again := fmt.Errorf("node: %w", explained)
		if Explain(again) != again || RefusalOf(again) != explained {
			t.Errorf("%v is explained twice", err)
		}
	}
	if len(remedies) != len(causes) {
		t.Errorf("%d remedies for %d refusals", len(remedies), len(causes))
	}
	for _, err := range []error{nil, io.EOF, fs.ErrNotExist, fmt.Errorf("listen: %w", fs.ErrPermission)} {
		if Explain(err) != err || RefusalOf(err) != nil {
			t.Errorf("%v is explained as %v", err, Explain(err))
		}
	}
}

// TestFullDevice checks a real error of the system, which each user can cause on Linux.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that is full:", err)
	}
	defer full.Close()
	path := filepath.Join(t.TempDir(), "file")
	err = Replace(path, func(io.Writer) error {
		_, err := full.Write([]byte("text"))
		return err
	})
	if r, _ := errors.AsType[*Refusal](err); r == nil || !strings.Contains(err.Error(), "no space left on device: the disk is full; free some space") {
		t.Errorf("a full device: %v", err)
	}
}
