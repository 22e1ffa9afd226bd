package evaluator

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the new parent of descendants whose parent ends, so that
// descendants can find them. If the kernel refuses, init becomes their parent.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// descendants returns the IDs of all running processes below this one.
func descendants() (found []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	ended := map[int]bool{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // the process has ended
		}
		// pid (name) state parent …, where the name may contain any characters
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
		ended[pid] = fields[0] == "Z" || fields[0] == "X"
	}
	for next := children[os.Getpid()]; len(next) > 0; next = next[1:] {
		if !ended[next[0]] {
			found = append(found, next[0])
		}
		next = append(next, children[next[0]]...)
	}
	return found
}
