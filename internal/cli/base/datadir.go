package base

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/datadir"
)

// DataDirVariable names the variable of the flag, which also places the directory of a hub.
const DataDirVariable = "FBO_DATA_DIR"

// AddDataDir adds the flag that all commands on a node's state have.
func AddDataDir(command *cobra.Command, dir *string) {
	command.Flags().StringVar(dir, "data-dir", "",
		"directory of this node's identity and journal (default "+describeDefaultDir()+")")
	FromEnvironment(command, "data-dir")
}

// ResolveDataDir returns the data directory, and an error if other users can write to it.
func ResolveDataDir(flag string) (string, error) {
	dir, err := NameDataDir(flag)
	if err != nil {
		return "", err
	}
	if err := datadir.Check(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return dir, nil
}

// NameDataDir returns the data directory without a check.
func NameDataDir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if dir := os.Getenv(DataDirVariable); dir != "" {
		return dir, nil
	}
	return defaultDataDir()
}

func defaultDataDir() (string, error) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		base, err := os.UserConfigDir()
		if err != nil {
			return "", Usagef("no data directory: %w; set --data-dir", err)
		}
		return filepath.Join(base, "fbo"), nil
	}
	if base := os.Getenv("XDG_DATA_HOME"); base != "" {
		return filepath.Join(base, "fbo"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", Usagef("no data directory: %w; set --data-dir", err)
	}
	return filepath.Join(home, ".local", "share", "fbo"), nil
}

func describeDefaultDir() string {
	dir, err := defaultDataDir()
	if err != nil {
		return "none on this system"
	}
	return fmt.Sprintf("%q", dir)
}
