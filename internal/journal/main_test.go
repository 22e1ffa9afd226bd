package journal

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"
)

// writerVariable makes the test binary a writer instead of running the tests.
const writerVariable = "FBO_JOURNAL_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerVariable); path != "" {
		if err := write(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(writerFailed)
		}
		return
	}
	os.Exit(m.Run())
}

// writerFailed differs from what a killed process leaves on any system.
const writerFailed = 3

// write appends numbered entries for ever, two to four at a time with one keyed
// entry that holds the latest number, and prints each number that Append has
// acknowledged.
func write(path string) error {
	j, err := Open(path, 10*time.Second)
	if err != nil {
		return err
	}
	log, err := j.Log("task")
	if err != nil {
		return err
	}
	number := uint64(0)
	if err := log.Replay(func(e Entry) error {
		if e.Key == "" {
			number++
		}
		return nil
	}); err != nil {
		return err
	}
	for {
		var batch []Entry
		for range 1 + number%3 {
			batch = append(batch, numbered("", number))
			number++
		}
		batch = append(batch, numbered("latest", number-1))
		if err := log.Append(batch...); err != nil {
			return err
		}
		if _, err := fmt.Println(number - 1); err != nil {
			return err
		}
	}
}

func numbered(key string, number uint64) Entry {
	return Entry{Key: key, Data: binary.BigEndian.AppendUint64(nil, number)}
}
