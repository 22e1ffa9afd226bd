// Package layers holds the test that keeps the packages in their order.
package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fbo-node/fbo"

// layers names the layer of every package; a package may import only packages of
// lower layers. docs/architecture.md shows the same order.
var layers = map[string]int{
	"task":                        1,
	"random":                      1,
	"protocol/pb":                 1,
	"internal/plain":              1,
	"internal/guarded":            1,
	"protocol":                    2,
	"internal/fourier":            2,
	"internal/radial":             2,
	"experiment/testfunc":         2,
	"rff":                         3,
	"surrogate/gp":                3,
	"acquisition":                 3,
	"surrogate":                   4,
	"strategy":                    5,
	"privacy/ledger":              5,
	"strategy/exchange/presence":  6,
	"privacy/securesum":           6,
	"strategy/search":             6,
	"strategy/exchange/newest":    6,
	"tsampling":                   7,
	"strategy/alone":              7,
	"tsampling/peerprior":         8,
	"consensus/density":           8,
	"tsampling/ftsde":             9,
	"consensus":                   8,
	"consensus/designs":           8,
	"privacy":                     4,
	"experiment/family":           4,
	"experiment/family/trained":   13,
	"experiment/baseline":         10,
	"agent":                       11,
	"internal/journal":            11,
	"internal/heard":              11,
	"internal/evaluator/triallog": 11,
	"internal/evaluator":          12,
	"node":                        12,
	"sim":                         12,
	"examples/synthetic":          12,
	"experiment":                  13,
	"cmd/fbo-node":                14,
	"examples/embed":              14,
	"examples/landmine":           14,
	"examples/sklearn":            14,
	"internal/layers":             14,
}

// driverLayer is the lowest layer that may touch the outside world.
const driverLayer = 11

// agentPackage is the highest pure package although it shares that layer.
const agentPackage = "agent"

func pure(pkg string) bool { return layers[pkg] < driverLayer || pkg == agentPackage }

// outside lists what pure packages may not import: the network and the disk.
func outside(path string) bool {
	switch path {
	case "net", "os", "os/exec", "log", "net/http", "syscall":
		return true
	}
	if !strings.HasPrefix(path, "github.com/libp2p/") {
		return strings.HasPrefix(path, "go.etcd.io/")
	}
	for _, allowed := range []string{"core/crypto", "core/peer", "core/record"} {
		if path == "github.com/libp2p/go-libp2p/"+allowed {
			return false
		}
	}
	return true
}

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	seen := map[string]bool{}
	eachFile(t, func(pkg, path string, file *ast.File) {
		seen[pkg] = true
		layer, known := layers[pkg]
		if !known {
			t.Fatalf("%s: package %s has no layer; give it one here and in docs/architecture.md", path, pkg)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inner, ok := strings.CutPrefix(imported, module+"/"); ok && layers[inner] >= layer {
				t.Errorf("%s: %s (layer %d) imports %s (layer %d)", path, pkg, layer, inner, layers[inner])
			}
			if pure(pkg) && outside(imported) {
				t.Errorf("%s: %s is pure and may not import %s", path, pkg, imported)
			}
		}
	})
	for pkg := range layers {
		if !seen[pkg] && !onlyTests(pkg) {
			t.Errorf("layer of %s: there is no such package", pkg)
		}
	}
}

// onlyTests tells whether the package has no Go files but tests.
func onlyTests(pkg string) bool {
	switch pkg {
	case "internal/layers", "examples/landmine", "examples/sklearn":
		return true
	}
	return false
}

// Pure packages get the time and the random numbers handed in.
func TestPurePackagesHaveNoClockAndNoGlobalRandomness(t *testing.T) {
	eachFile(t, func(pkg, path string, file *ast.File) {
		if !pure(pkg) || pkg == "protocol/pb" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			owner, ok := selector.X.(*ast.Ident)
			if !ok || owner.Obj != nil {
				return true
			}
			switch name := owner.Name + "." + selector.Sel.Name; name {
			case "time.Now", "time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Since", "time.Until",
				"rand.Float64", "rand.IntN", "rand.N", "rand.NormFloat64", "rand.Perm", "rand.Uint64", "rand.Shuffle":
				t.Errorf("%s: %s is pure and may not call %s", path, pkg, name)
			}
			return true
		})
	})
}

// eachFile calls f for every Go file of the module that is not a test.
func eachFile(t *testing.T, f func(pkg, path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == ".git" || name == "testdata" || path != root && exists(filepath.Join(path, "go.mod")) {
				return filepath.SkipDir // a module of its own has its own order
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		f(filepath.ToSlash(pkg), path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
