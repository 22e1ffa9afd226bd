package store

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/datadir"
)

// IdentityFile is the name of the file with the private key in a data directory.
const IdentityFile = "identity.key"

// LoadIdentity returns the Ed25519 key in a data directory, and creates one at the first use. The
// file must be readable by its owner only, since a process with the key can act as this node.
func LoadIdentity(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, IdentityFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createIdentity(path)
	}
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if err := datadir.Plain(path); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("identity %s is readable by others (mode %04o): expected 0600; make a new identity if others may have read it", path, info.Mode().Perm())
	}
	data, err := readRegular(path)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	key, err := crypto.UnmarshalPrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("identity %s is damaged: %w", path, err)
	}
	if key.Type() != crypto.Ed25519 {
		return nil, fmt.Errorf("identity %s is a %v key, expected Ed25519", path, key.Type())
	}
	return key, nil
}

// WriteIdentity stores the Ed25519 key of a seed in a data directory without one. Such a key is as
// secret as its seed: it is for experiments that must be repeatable. A key that exists is kept, and
// the error wraps fs.ErrExist.
func WriteIdentity(dir string, seed [ed25519.SeedSize]byte) error {
	key, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		return fmt.Errorf("make identity: %w", err)
	}
	return writeIdentity(filepath.Join(dir, IdentityFile), key)
}

func writeIdentity(path string, key crypto.PrivKey) error {
	data, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return fmt.Errorf("make identity: %w", err)
	}
	if err := datadir.CreateOnce(path, data); err != nil {
		return fmt.Errorf("make identity: %w", err)
	}
	return nil
}

// createIdentity makes a key, unless another process is quicker: then it returns that one's.
func createIdentity(path string) (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	err = writeIdentity(path, key)
	if errors.Is(err, fs.ErrExist) {
		return LoadIdentity(filepath.Dir(path))
	}
	return key, err
}
