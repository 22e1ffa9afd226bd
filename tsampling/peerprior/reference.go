package peerprior

import (
	"runtime"
	"slices"
	"sync"

	"github.com/ipfs/go-cid"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// reference holds points of the space at which a strategy compares functions. It takes 1.4 MB with
// 256 features, so a node with hundreds of tasks does not keep it for all of them.
type reference struct {
	points     [][]float64
	phi        *mat.Dense // row i has the values of all features at point i
	projection *rff.Projection
}

func newReference(space *task.Space, features *rff.Map) *reference {
	rng := random.SeedOf(0).Stream("reference points", 0)
	r := &reference{points: make([][]float64, max(referencePoints, features.Features()*3/2))}
	r.phi = mat.NewDense(len(r.points), features.Features(), nil)
	for i := range r.points {
		r.points[i] = acquisition.Sample(space, rng)
		features.Phi(r.phi.RawRowView(i), r.points[i])
	}
	var err error
	if r.projection, err = rff.NewProjection(features, r.points, referenceRidge); err != nil {
		panic(err) // cannot happen: the ridge makes the matrix positive definite
	}
	return r
}

// minReferences is the minimum number of references in a cache. Experiments run a task on each
// processor, so the cache holds more with many processors.
const minReferences = 4

// references is a cache of the references that were used last. The strategies of a registration
// share it. A reference depends on the task alone, so computing it again changes no result. It may be
// used from any goroutine.
type references struct {
	most int

	mu     sync.Mutex
	recent []cachedReference // last used first
}

type cachedReference struct {
	task cid.Cid
	get  func() *reference
}

func newReferences() *references {
	return &references{most: max(minReferences, 2*runtime.GOMAXPROCS(0))}
}

// of returns the reference of a task. It calls compute if the cache does not have it; concurrent
// calls for one task compute it once.
func (r *references) of(id cid.Cid, compute func() *reference) *reference {
	return r.entry(id, compute).get()
}

func (r *references) entry(id cid.Cid, compute func() *reference) cachedReference {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.recent, func(c cachedReference) bool { return c.task == id })
	entry := cachedReference{id, sync.OnceValue(compute)}
	if at >= 0 {
		entry = r.recent[at]
		r.recent = slices.Delete(r.recent, at, at+1)
	}
	r.recent = slices.Insert(r.recent, 0, entry)
	if len(r.recent) > r.most {
		r.recent = slices.Delete(r.recent, r.most, len(r.recent))
	}
	return entry
}
