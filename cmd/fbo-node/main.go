// Command fbo-node tunes an expensive objective together with peers: each
// machine runs a node, the nodes of one task learn from each other's shares,
// and there is no server.
//
// `fbo-node help` lists the commands. Exit codes: 0 done, 1 failed, 2 usage,
// 3 gave up because too many evaluations failed.
package main

import (
	"os"

	"github.com/fbo-node/fbo/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
