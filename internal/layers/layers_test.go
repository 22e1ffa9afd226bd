// Package layers tests the order of the packages, and the rules that depend on the packages as a
// whole: where goroutines start, and how tests of a build tag are named.
package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fbo-node/fbo"

// layers maps a folder to its layer. It applies to the packages in the folder and below it that
// have no line of their own. A package may import packages of lower layers and of its own line.
// docs/architecture.md shows the same order.
var layers = map[string]int{
	"internal/sanitize":             0,
	"task":                          1,
	"internal/random":               1,
	"internal/fbotest":              1,
	"internal/recoverpanic":         1,
	"internal/eventlog":             1,
	"internal/virtualtime":          1,
	"internal/audit":                1,
	"internal/linalg":               1,
	"internal/normal":               1,
	"internal/pareto":               1,
	"protocol":                      2,
	"internal/invitation":           2,
	"internal/admission":            3,
	"internal/largetopic":           3,
	"internal/taskref":              2,
	"internal/peeraddr":             2,
	"internal/curves":               3,
	"internal/fourier":              2,
	"internal/radial":               2,
	"lab/testfunc":                  2,
	"internal/pb":                   1,
	"rff":                           3,
	"internal/surrogate/gp":         3,
	"internal/acquisition":          3,
	"internal/surrogate":            4,
	"privacy":                       4,
	"lab/family":                    4,
	"internal/privacy/designvector": 4,
	"internal/curvemodel":           5,
	"internal/privacy/ledger":       5,
	"internal/privacy/coarsen":      5,
	"internal/privacy/compare":      5,
	"strategy":                      6,
	"internal/exchange":             8,
	"strategy/search":               7,
	"internal/privacy/securesum":    7,
	"internal/fbotest/strategytest": 7,
	"internal/fbotest/crowdtest":    14,
	"strategy/latest":               7,
	"internal/modelview":            8,
	"strategy/alone":                8,
	"internal/optprior":             8,
	"tsampling":                     9,
	"consensus":                     10,
	"strategy/all":                  11,
	"internal/datadir":              11,
	"node/internal/peers":           11,
	"lab/baseline":                  11,
	"internal/agent":                12,
	"internal/bounded":              12,
	"internal/journal":              12,
	"internal/ratelimitlog":         12,
	"internal/sharecache":           12,
	"internal/sharebundle":          12,
	"internal/nethost":              12,
	"internal/tasknames":            12,
	"internal/evaluator":            12,
	"internal/httpaccess":           12,
	"internal/webpage":              12,
	"internal/export":               12,
	"internal/store":                13,
	"internal/probe":                13,
	"internal/clientsession":        13,
	"internal/continuation":         13,
	"internal/sim":                  13,
	"internal/adversary":            13,
	"examples/synthetic":            13,
	"node":                          14,
	"lab/experiment":                14,
	"lab/attack":                    14,
	"lab/campaign":                  14,
	"lab/fleet":                     14,
	"lab/trained":                   14,
	"lab/objectives":                15,
	"internal/trialserver":          15,
	"internal/httpapi":              16,
	"internal/mcpserver":            16,
	"internal/vizierapi":            16,
	"internal/cli":                  17,
	"cmd":                           18,
	"examples":                      17,
	"internal/layers":               17,
	"internal/release":              18,
	"internal/mutation":             17,
	"internal/wording":              17,
}

// folderOf returns the line of layers that applies to a package.
func folderOf(pkg string) (folder string, ok bool) {
	for folder = pkg; folder != "."; folder = path.Dir(folder) {
		if _, ok := layers[folder]; ok {
			return folder, true
		}
	}
	return "", false
}

// mayImport reports whether pkg may import inner.
func mayImport(pkg, inner string) bool {
	folder, _ := folderOf(pkg)
	lower, known := folderOf(inner)
	return known && (lower == folder || layers[lower] < layers[folder])
}

// driverLayer is the lowest layer that may use the network and the disk.
const driverLayer = 12

// agentPackage is the highest pure package, although it has that layer.
const agentPackage = "internal/agent"

// diskPackage is lower than driverLayer, because all packages of that layer that use the disk
// import it. Pure packages may not import it.
const diskPackage = "internal/datadir"

func pure(pkg string) bool {
	folder, _ := folderOf(pkg)
	return layers[folder] < driverLayer && pkg != diskPackage || pkg == agentPackage
}

// outside reports whether an import gives access to the network or the disk, which pure packages
// may not have.
func outside(path string) bool {
	switch path {
	case "net", "os", "os/exec", "log", "net/http", "syscall", module + "/" + diskPackage:
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
	used := map[string]bool{}
	eachFile(t, func(pkg, file string, parsed *ast.File) {
		folder, known := folderOf(pkg)
		if !known {
			t.Fatalf("%s: package %s has no layer; give its folder one here and in docs/architecture.md", file, pkg)
		}
		used[folder] = true
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inner, ok := strings.CutPrefix(imported, module+"/"); ok && !mayImport(pkg, inner) {
				t.Errorf("%s: %s may not import %s, which is of the same layer or a higher one", file, pkg, inner)
			}
			if pure(pkg) && outside(imported) {
				t.Errorf("%s: %s is pure and may not import %s", file, pkg, imported)
			}
		}
	})
	for folder := range layers {
		if !used[folder] && folder != "internal/layers" { // which has tests only
			t.Errorf("layer of %s: there is no package in this folder", folder)
		}
	}
}

// docs/architecture.md has the same table.
func TestArchitectureShowsTheLayers(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| (\\d+) \\| `([a-z/]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		shown[row[2]], _ = strconv.Atoi(row[1])
	}
	shown["internal/layers"] = layers["internal/layers"] // this test
	if !maps.Equal(shown, layers) {
		t.Errorf("docs/architecture.md shows %v, the layers are %v", shown, layers)
	}
}

// Pure packages receive the time and random numbers as arguments.
func TestPurePackagesHaveNoClockAndNoGlobalRandomness(t *testing.T) {
	eachFile(t, func(pkg, file string, parsed *ast.File) {
		if !pure(pkg) || pkg == "internal/pb" {
			return
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
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
				"maphash.MakeSeed", "rand.Float64", "rand.IntN", "rand.N", "rand.NormFloat64", "rand.Perm", "rand.Uint64", "rand.Shuffle":
				t.Errorf("%s: %s is pure and may not call %s", file, pkg, name)
			}
			return true
		})
	})
}

// raceList lists the packages that run under the race detector, one a line.
const raceList = "../../.ci/race.txt"

// The race detector runs for the packages that start goroutines, in code or tests. In the others
// it has nothing to see.
func TestRaceListHasThePackagesThatStartGoroutines(t *testing.T) {
	text, err := os.ReadFile(raceList)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(string(text))
	starting := map[string]bool{}
	walk(t, func(pkg, _ string, parsed *ast.File) {
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starting["./"+pkg] = true
			case *ast.CallExpr: // sync.WaitGroup.Go, errgroup.Group.Go
				if selector, ok := n.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Go" {
					starting["./"+pkg] = true
				}
			}
			return true
		})
	})
	if want := slices.Sorted(maps.Keys(starting)); !slices.Equal(listed, want) {
		t.Errorf("%s has\n%s\nexpected\n%s", raceList, strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}

// The checks select tests of a build tag by the prefix of their names.
func TestNamesOfTaggedTests(t *testing.T) {
	prefixes := map[string]string{"statistical": "TestStatistical", "long": "TestLong"}
	walk(t, func(_, file string, parsed *ast.File) {
		var tag string
		for _, group := range parsed.Comments {
			for _, comment := range group.List {
				if expression, ok := strings.CutPrefix(comment.Text, "//go:build "); ok {
					for name := range prefixes {
						if slices.Contains(strings.Fields(expression), name) {
							tag = name
						}
					}
				}
			}
		}
		for _, declaration := range parsed.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" {
				continue
			}
			for name, prefix := range prefixes {
				if has := strings.HasPrefix(f.Name.Name, prefix); has != (tag == name) {
					t.Errorf("%s: %s begins with %s: %t; expected that of all tests with the build tag %s, and of no other", file, f.Name.Name, prefix, has, name)
				}
			}
		}
	})
}

// eachFile calls f for every Go file of the module that is not a test.
func eachFile(t *testing.T, f func(pkg, path string, file *ast.File)) {
	t.Helper()
	walk(t, func(pkg, path string, file *ast.File) {
		if !strings.HasSuffix(path, "_test.go") {
			f(pkg, path, file)
		}
	})
}

// walk calls f for every Go file of the module.
func walk(t *testing.T, f func(pkg, path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == ".git" || name == "testdata" || path != root && exists(filepath.Join(path, "go.mod")) {
				return filepath.SkipDir // another module
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
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

// importable reports whether another module may import a package, as an API that stays.
func importable(pkg string) bool {
	for _, part := range strings.Split(pkg, "/") {
		if slices.Contains([]string{"internal", "cmd", "examples", "lab"}, part) {
			return false
		}
	}
	return true
}

// Another module can name all types in the signatures of the importable packages: those of
// internal packages have an alias.
func TestExportedSignaturesNameNoInternalPackage(t *testing.T) {
	packages := map[string]bool{}
	eachFile(t, func(pkg, file string, parsed *ast.File) {
		if !importable(pkg) {
			return
		}
		packages[pkg] = true
		hidden := map[string]bool{} // names of imported packages that another module cannot import
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if inner, ok := strings.CutPrefix(imported, module+"/"); ok && !importable(inner) {
				name := path.Base(imported)
				if spec.Name != nil {
					name = spec.Name.Name
				}
				hidden[name] = true
			}
		}
		check := func(what string, node ast.Node) {
			ast.Inspect(node, func(n ast.Node) bool {
				if f, ok := n.(*ast.Field); ok && what == "field" && !slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
					return false // an unexported or embedded field
				}
				if selector, ok := n.(*ast.SelectorExpr); ok {
					if owner, ok := selector.X.(*ast.Ident); ok && hidden[owner.Name] {
						t.Errorf("%s: an exported declaration contains %s.%s, which another module cannot name; expected an alias", file, owner.Name, selector.Sel.Name)
					}
				}
				return true
			})
		}
		for _, declaration := range parsed.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d)) {
					check("signature", d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && !s.Assign.IsValid() {
						check("field", s.Type)
					}
				}
			}
		}
	})
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = true
	}
	if !maps.Equal(documented, packages) {
		t.Errorf("docs/api.md lists the packages %v, expected %v", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(packages)))
	}
	const most = 20
	if len(packages) > most {
		t.Errorf("%d packages are importable, expected at most %d: %v", len(packages), most, slices.Sorted(maps.Keys(packages)))
	}
}

func receiverIsExported(d *ast.FuncDecl) bool {
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}

// A program links the strategies that it names, and no other: node imports none.
func TestNodeLinksNoStrategyThatTheProgramDoesNotName(t *testing.T) {
	imports := map[string][]string{}
	eachFile(t, func(pkg, _ string, parsed *ast.File) {
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if inner, ok := strings.CutPrefix(imported, module+"/"); ok {
				imports[pkg] = append(imports[pkg], inner)
			}
		}
	})
	linked := func(program string) []string {
		seen := map[string]bool{}
		var visit func(pkg string)
		visit = func(pkg string) {
			if !seen[pkg] {
				seen[pkg] = true
				for _, inner := range imports[pkg] {
					visit(inner)
				}
			}
		}
		visit(program)
		return slices.Sorted(maps.Keys(seen))
	}
	all := slices.DeleteFunc(linked("strategy/all"), func(pkg string) bool {
		return !strings.HasPrefix(pkg, "consensus") && !strings.HasPrefix(pkg, "tsampling")
	})
	if len(all) < 7 {
		t.Fatalf("package strategy/all links the strategies %v, expected all of them", all)
	}
	for _, c := range []struct {
		program string
		own     []string // strategies that it may link
	}{
		{"node", nil},
		{"internal/agent", nil},
		{"examples/minimal", []string{"tsampling/peerprior"}},
	} {
		for _, pkg := range linked(c.program) {
			if pkg == "strategy/all" || slices.Contains(all, pkg) && !slices.Contains(c.own, pkg) {
				t.Errorf("%s links %s, expected only the strategies that it names: %v", c.program, pkg, c.own)
			}
		}
	}
}

// Users cannot place the name of a package in an error. An error begins with what is wrong, in the
// words of the documentation; task, journal and invitation are such words.
func TestErrorsBeginWithNoPackage(t *testing.T) {
	words := []string{"task", "journal", "invitation"}
	eachFile(t, func(_, file string, parsed *ast.File) {
		name := parsed.Name.Name
		if slices.Contains(words, name) {
			return
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			made, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || made.Sel.Name != "Errorf" && made.Sel.Name != "New" {
				return true
			}
			if owner, ok := made.X.(*ast.Ident); !ok || owner.Name != "fmt" && owner.Name != "errors" {
				return true
			}
			if text, ok := call.Args[0].(*ast.BasicLit); ok && strings.HasPrefix(text.Value[1:], name+": ") {
				t.Errorf("%s: the error %s begins with its package, expected what is wrong", file, text.Value)
			}
			return true
		})
	})
}
