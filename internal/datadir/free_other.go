//go:build !linux && !darwin && !windows

package datadir

import "errors"

// Free returns an error that wraps errors.ErrUnsupported.
func Free(string) (uint64, error) { return 0, errors.ErrUnsupported }
