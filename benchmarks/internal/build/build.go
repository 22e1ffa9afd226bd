// Package build identifies builds of a program.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// Name returns the first 12 hexadecimal digits of the hash of the running program. It keeps
// results of different states of the code apart.
func Name() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}
