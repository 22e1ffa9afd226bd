package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/internal/journal"
)

// An entry with a key replaces the one before; all others stay, in their order.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "journal.db"), time.Second)
	if err != nil {
		panic(err)
	}
	log, err := j.Log("task")
	if err != nil {
		panic(err)
	}
	err = errors.Join(
		log.Append(journal.Entry{Key: "epoch", Data: []byte("epoch 1")}, journal.Entry{Data: []byte("trial 1")}),
		log.Append(journal.Entry{Data: []byte("trial 2")}),
		log.Append(journal.Entry{Key: "epoch", Data: []byte("epoch 2")}),
		log.Replay(func(e journal.Entry) error {
			fmt.Println(string(e.Data))
			return nil
		}),
		j.Close(),
	)
	fmt.Println(err)
	// Output:
	// trial 1
	// trial 2
	// epoch 2
	// <nil>
}
