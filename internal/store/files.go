package store

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/fbo-node/fbo/internal/datadir"
)

// maxSmall is the maximum number of bytes that readRegular reads.
const maxSmall = 1 << 20

// writeFile replaces the content of a small file of the data directory.
func writeFile(path, content string) error {
	return datadir.Replace(path, func(w io.Writer) error { _, err := io.WriteString(w, content); return err })
}

// readRegular reads a small file of the data directory.
func readRegular(path string) ([]byte, error) {
	file, err := datadir.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxSmall))
}

// listenFile contains the addresses that the node listened on, one per line.
const listenFile = "listen-addresses"

// LastListen returns the addresses on which the node of a directory listened at its last start
// without Node.Listen. The next such start uses them again if they are free. Before the first start
// there are none.
func LastListen(dir string) []string {
	data, err := readRegular(filepath.Join(dir, listenFile))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

// WriteListen stores the addresses for LastListen.
func (s *Store) WriteListen(addresses []string) error {
	return writeFile(filepath.Join(s.dir, listenFile), strings.Join(addresses, "\n")+"\n")
}
