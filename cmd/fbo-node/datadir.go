package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

const dataDirVariable = "FBO_DATA_DIR"

// addDataDir adds the flag that all commands on a node's state have.
func addDataDir(command *cobra.Command, dir *string) {
	command.Flags().StringVar(dir, "data-dir", "",
		"directory of this node's identity and journal (default $"+dataDirVariable+", else "+describeDefaultDir()+")")
}

func resolveDataDir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if dir := os.Getenv(dataDirVariable); dir != "" {
		return dir, nil
	}
	return defaultDataDir()
}

func defaultDataDir() (string, error) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		base, err := os.UserConfigDir()
		if err != nil {
			return "", usagef("no data directory: %w; set --data-dir", err)
		}
		return filepath.Join(base, "fbo"), nil
	}
	if base := os.Getenv("XDG_DATA_HOME"); base != "" {
		return filepath.Join(base, "fbo"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usagef("no data directory: %w; set --data-dir", err)
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
