package triallog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Limits of the stored output, in bytes.
const (
	Segment  = 256 << 10
	PerTrial = (1 + lastSegments) * Segment
	Total    = 64 << 20
)

// Reserve is the free space on the disk, in bytes, that is left for the journal and other files.
const Reserve = 16 << 20

const (
	lastSegments = 3    // number of last files that are stored, in addition to the first
	fileCost     = 4096 // space that a file takes in addition to its content
)

// Numbers of a trial's files, in order.
const (
	none  = 0
	first = 1 // trial-7.log; 2 is trial-7.log.1
)

func path(dir string, trial uint64, number int) string {
	name := fmt.Sprintf("trial-%d.log", trial)
	if number > first {
		name += "." + strconv.Itoa(number-first)
	}
	return filepath.Join(dir, name)
}

// parse is the inverse of path, for the name of a file.
func parse(name string) (trial uint64, number int, ok bool) {
	rest, ok := strings.CutPrefix(name, "trial-")
	digits, ending, found := strings.Cut(rest, ".")
	trial, err := strconv.ParseUint(digits, 10, 64)
	if !ok || !found || err != nil {
		return 0, 0, false
	}
	if ending == "log" {
		return trial, first, true
	}
	later, isLater := strings.CutPrefix(ending, "log.")
	n, err := strconv.Atoi(later)
	return trial, first + n, isLater && err == nil && n > 0
}

// files returns the numbers of a trial's files, in order.
func files(dir string, trial uint64) ([]int, error) {
	for _, folder := range []string{filepath.Dir(dir), dir} {
		if err := datadir.NoLink(folder); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var numbers []int
	for _, entry := range entries {
		if of, number, ok := parse(entry.Name()); ok && of == trial {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}
