//go:build !unix || solaris || aix || android

package run

import (
	"context"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// untilUnused returns an error: this system has no locks that a process can wait for and that
// end with the program.
func untilUnused(context.Context, string) (context.Context, func(), error) {
	return nil, nil, base.Usagef("--until-unused: this system has no file locks for it; expected --until-eof")
}
