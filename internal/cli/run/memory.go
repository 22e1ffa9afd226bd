package run

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/node"
)

// memorySize is the value of --memory, in bytes; 0: no limit.
type memorySize int64

var _ pflag.Value = (*memorySize)(nil)

var memoryUnits = []struct {
	name  string
	bytes int64
}{{"MiB", 1 << 20}, {"GiB", 1 << 30}}

// maxMemory is the largest accepted size, 1 TiB.
const maxMemory = 1 << 40

func (m *memorySize) Set(text string) error {
	for _, unit := range memoryUnits {
		number, found := strings.CutSuffix(text, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < node.MinMemoryLimit/unit.bytes || n*unit.bytes < node.MinMemoryLimit || n > maxMemory/unit.bytes {
			break
		}
		*m = memorySize(n * unit.bytes)
		return nil
	}
	return fmt.Errorf("expected sizes from %s to 1024GiB, such as 96MiB", memorySize(node.MinMemoryLimit))
}

func (m memorySize) String() string {
	if m == 0 {
		return ""
	}
	return fmt.Sprintf("%dMiB", int64(m)>>20)
}

func (m memorySize) Type() string { return "size" }

func addMemory(flags *pflag.FlagSet, m *memorySize) {
	flags.Var(m, "memory", "memory that the node uses at most, such as 96MiB: it stores fewer shares and keeps fewer connections, and collects garbage earlier (default: no limit)")
}

// apply limits the memory of this process and of its node. A GOMEMLIMIT that the user has set
// remains in force.
func (m memorySize) apply(n *node.Node) {
	if m == 0 {
		return
	}
	n.MemoryLimit = int64(m)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(node.HeapLimit(int64(m)))
	}
}
