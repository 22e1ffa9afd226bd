package node

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/wire"
)

// With more memory no limit is lower, the largest are those without a limit, and the shares of all
// tasks together stay within the part of the memory that is for them.
func TestRoomGrowsWithMemory(t *testing.T) {
	if r := newRoom(0); r.ofTask(1000) != 0 || r.connections != nethost.MaxConnections || r.syncStreams != wire.MaxSyncStreams || r.resources().System.Memory != 0 {
		t.Errorf("without a limit: %+v", r)
	}
	last := room{}
	for memory := int64(MinMemoryLimit); memory <= 1<<30; memory += 1 << 20 {
		r := newRoom(memory)
		if r.shares < last.shares || r.connections < last.connections || r.syncStreams < last.syncStreams {
			t.Errorf("%d MiB: %+v, with less memory %+v", memory>>20, r, last)
		}
		if r.connections < minConnections || r.connections > nethost.MaxConnections || r.syncStreams < minSyncStreams || r.syncStreams > wire.MaxSyncStreams {
			t.Errorf("%d MiB: %+v", memory>>20, r)
		}
		for tasks := 1; tasks <= 300; tasks++ {
			if of := r.ofTask(tasks); of*tasks > r.shares && of > minTaskBytes || of < minTaskBytes {
				t.Errorf("%d MiB, %d tasks: %d bytes of each, %d of all", memory>>20, tasks, of, r.shares)
			}
		}
		if spare := int(memory) - codeMemory - idleMemory; 2*shareFactor*r.shares > spare {
			t.Errorf("%d MiB: %d bytes of shares, more than half of %d in memory", memory>>20, r.shares, spare)
		}
		last = r
	}
	if last.connections != nethost.MaxConnections || last.syncStreams != wire.MaxSyncStreams {
		t.Errorf("1 GiB: %+v", last)
	}
}

// TestDocumentedRoom compares the table of docs/deploy.md with the limits.
func TestDocumentedRoom(t *testing.T) {
	text, err := os.ReadFile("../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	for memory, authors := range map[int64]string{64: "292", 96: "1,024", 128: "1,024"} {
		r := newRoom(memory << 20)
		want := fmt.Sprintf("| %dMiB | %.1f MiB | %s | %d | %d |", memory, float64(r.shares)/(1<<20), authors, r.connections, r.syncStreams)
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/deploy.md lacks %q", want)
		}
	}
	if r := newRoom(176 << 20); r.ofTask(1) < 8<<20 || r.connections != nethost.MaxConnections || r.syncStreams != wire.MaxSyncStreams {
		t.Errorf("176 MiB: %+v, expected the limits without Node.MemoryLimit", r)
	}
	if MinMemoryLimit != 64<<20 || HeapLimit(96<<20) != 56<<20 {
		t.Errorf("the smallest limit is %d, the heap of 96 MiB %d", MinMemoryLimit, HeapLimit(96<<20))
	}
}
