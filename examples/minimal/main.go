// Command minimal tunes two settings inside a program. docs/api.md explains it.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx, strategies := context.Background(), strategy.Set{peerprior.Register()}
	oven, err := strategies.NewTask(task.Spec{Name: "oven", Goal: task.Minimize, Parameters: []task.Parameter{
		{Name: "temperature", Kind: task.Float, Low: 150, High: 250}, {Name: "minutes", Kind: task.Int, Low: 5, High: 40}}})
	check(err)
	n := &node.Node{Dir: "oven-node", Strategies: strategies} // Peers: addresses of other nodes
	check(n.Start(ctx))
	session, err := n.Join(ctx, oven, node.JoinOptions{})
	check(err)
	check(session.Run(ctx, bake, node.RunOptions{Evals: 20})) // 20 in all, those of earlier runs included
	best, err := session.Best(ctx)
	check(err)
	fmt.Println(best)
	check(n.Close())
}

func bake(_ context.Context, d task.Design) (float64, error) {
	return math.Abs(d.Float("temperature")-210)/10 + math.Abs(float64(d.Int("minutes"))-18), nil
}
