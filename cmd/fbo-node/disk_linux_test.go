package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/evaluator/triallog"
)

// smallDisk is a script that mounts a small file system at $1 and runs the rest of its arguments as
// a script, which has the program as $fbo. The file system ends with the script.
const smallDisk = `disk=$1 size=$2 fbo=$3 task=$4
mount -t tmpfs -o size=$size,mode=700 none "$disk" || exit 99
tune() { "$fbo" run "$task" --data-dir "$disk/data" --mdns=false --wait-for-peers 0s --listen /ip4/127.0.0.1/tcp/0 "$@" 2>&1; }
fill() { cat /dev/zero > "$disk/fill" 2>/dev/null; }
`

// onSmallDisk runs a shell script on a file system of its own and returns what the script prints. A
// user without root's rights needs user namespaces.
func onSmallDisk(t *testing.T, size, script string) string {
	t.Helper()
	enter := []string{"--mount", "--"}
	if os.Geteuid() != 0 {
		enter = append([]string{"--map-root-user"}, enter...)
	}
	if out, err := exec.Command("unshare", append(enter, "true")...).CombinedOutput(); err != nil {
		t.Skipf("namespaces cannot be made here: %v %s", err, out)
	}
	disk, file := shortTempDir(t), writeFile(t, "task.yaml", bowlTask)
	command := nodeCommand()
	command.Path, command.Args = "/usr/bin/env", join([]string{"env", "unshare"}, enter, []string{"sh", "-c", smallDisk + script, "sh", disk, size, os.Args[0], file})
	e := finish(t, command)
	if e.code == 99 {
		t.Skip("a file system cannot be mounted here:", e.stderr)
	}
	if e.code != 0 || e.stderr != "" {
		t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	if left, err := os.ReadDir(filepath.Clean(disk)); err != nil || len(left) > 0 {
		t.Errorf("the file system was not mounted: %v %v", left, err)
	}
	return e.stdout
}

// expectLines fails unless each text begins a line, in whatever order.
func expectLines(t *testing.T, text string, begins ...string) {
	t.Helper()
	for _, begin := range begins {
		if !strings.Contains("\n"+text, "\n"+begin) {
			t.Errorf("no line begins with %q in\n%s", begin, text)
		}
	}
}

// TestDoctorOnAFullDisk checks that everything that can be read is checked.
func TestDoctorOnAFullDisk(t *testing.T) {
	t.Parallel()
	out := onSmallDisk(t, "2m", `tune --evals 2 -- echo 1 >/dev/null; fill; "$fbo" doctor --data-dir "$disk/data" 2>&1; true`)
	expectLines(t, out, "fail  data directory  the disk is full: ", "fail  disk space      0 MiB are free; do: free some space",
		"ok    identity        12D3", "ok    journal         whole: 2 trials on 1 task", "ok    journal's copy  whole",
		"fbo-node: doctor: 2 checks of ")
	if strings.Contains(out, "make it writable") {
		t.Errorf("it asks for permissions:\n%s", out)
	}
}

// TestReadOnlyDisk checks that no command takes a read-only disk for damage.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	out := onSmallDisk(t, "32m", `tune --evals 2 -- echo 1 >/dev/null; mount -o remount,ro "$disk" || exit 99
"$fbo" doctor --data-dir "$disk/data" 2>&1; tune --evals 3 -- echo 1; "$fbo" serve --data-dir "$disk/data" 2>&1; "$fbo" status --data-dir "$disk/data" 2>&1`)
	expectLines(t, out, "fail  data directory  the file system is read-only: ", "warn  disk space      31 MiB are free",
		"ok    identity        12D3", "ok    journal         whole: 2 trials on 1 task", "ok    journal's copy  whole",
		"fbo-node: doctor: 1 check of ", "trials    2 done, 0 failed")
	if got := strings.Count(out, "fbo-node: "); got != 3 {
		t.Errorf("%d errors, want those of doctor, run and serve:\n%s", got, out)
	}
	if got := strings.Count(out, "journal.db: read-only file system: the file system is read-only; mount it for writing, or"); got != 2 {
		t.Errorf("%d commands say that the disk is read-only, want 2:\n%s", got, out)
	}
	if strings.Contains(out, "damaged") || strings.Contains(out, "--repair") {
		t.Errorf("it is called damaged:\n%s", out)
	}
}

// TestFullDiskIsReportedOnce checks that a run that a full disk ends reports it once, and goes on
// when there is space again.
func TestFullDiskIsReportedOnce(t *testing.T) {
	t.Parallel()
	out := onSmallDisk(t, "2m", `tune --evals 2 -- echo 1 >/dev/null; fill; tune --evals 500 -- echo 1 && exit 1
echo; echo SPACE; rm "$disk/fill"
count=$("$fbo" status --data-dir "$disk/data" | sed -n 's/^trials *\([0-9]*\) done.*/\1/p')
tune --evals $((count + 1)) -- echo 1`)
	full, after, _ := strings.Cut(out, "SPACE")
	if got := strings.Count(full, "its journal cannot be written"); got != 1 {
		t.Errorf("reported %d times:\n%s", got, full)
	}
	expectLines(t, full, `fbo-node: task "bowl" stops, because its journal cannot be written: `)
	if !strings.Contains(full, "no space left on device: the disk is full; free some space, or") {
		t.Errorf("no remedy in\n%s", full)
	}
	if !strings.Contains(after, "; 1 of the ") || !strings.Contains(after, " evaluations (0 failed): trial ") {
		t.Errorf("with space again:\n%s", after)
	}
}

// TestOutputsLeaveSpaceToTheJournal checks that trials that print much do not end a run on a small
// disk.
func TestOutputsLeaveSpaceToTheJournal(t *testing.T) {
	t.Parallel()
	out := onSmallDisk(t, "20m", `tune --evals 8 -- sh -c 'head -c 1000000 /dev/zero | tr "\0" x; echo; echo 1'
"$fbo" log 8 --data-dir "$disk/data" | wc -c; df -k --output=avail "$disk" | tail -n 1`)
	expectLines(t, out, "best 1 in 8 evaluations (0 failed)", "1000003")
	lines := strings.Fields(out)
	if free, err := strconv.Atoi(lines[len(lines)-1]); err != nil || free < triallog.Reserve>>10-512 {
		t.Errorf("%d KiB are free, %v", free, err)
	}
}
