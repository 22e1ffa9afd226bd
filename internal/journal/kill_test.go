package journal

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A writer process is killed at random moments. Whatever it had acknowledged
// must be there afterwards, in order, and nothing half-written.
func TestKilledWriterLosesNothing(t *testing.T) {
	const kills, seed = 10, 1
	rng := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "journal")
	for i := range kills {
		// Every other time the first acknowledgement is waited for; otherwise the
		// process may still be opening the file.
		acknowledged := runAndKill(t, path, time.Duration(rng.IntN(60))*time.Millisecond, i%2 == 1)
		if i%2 == 1 && acknowledged < 0 {
			t.Fatal("the writer wrote nothing")
		}
		checkNumbered(t, path, acknowledged)
	}
}

// runAndKill kills the writer some time after its start, or after its first
// acknowledgement. It returns the last number that the writer printed, -1 for none.
func runAndKill(t *testing.T, path string, delay time.Duration, afterFirst bool) int64 {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), writerVariable+"="+path)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		time.AfterFunc(delay, func() { _ = command.Process.Kill() })
	})
	if !afterFirst {
		kill()
	}
	last := int64(-1)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		kill()
		if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if err := command.Wait(); err == nil || command.ProcessState.ExitCode() == writerFailed {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return last
}

func checkNumbered(t *testing.T, path string, acknowledged int64) {
	t.Helper()
	j, err := Open(path, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	log, err := j.Log("task")
	if err != nil {
		t.Fatal(err)
	}
	next, latest := int64(0), int64(-1)
	err = log.Replay(func(e Entry) error {
		number := int64(binary.BigEndian.Uint64(e.Data))
		if e.Key != "" {
			latest = number
			return nil
		}
		if number != next {
			return fmt.Errorf("entry %d where %d belongs", number, next)
		}
		next++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next-1 < acknowledged || latest != next-1 {
		t.Fatalf("acknowledged %d, but the log ends at %d and its latest is %d", acknowledged, next-1, latest)
	}
}
