package testfunc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Whatever the package exports that makes a Function of something else is in All, and
// so a family of simulations.
func TestAllHasEveryFunction(t *testing.T) {
	listed := map[string]bool{}
	for _, n := range All() {
		name, _, _ := strings.Cut(n.New(n.Usual).Name, "-")
		listed[strings.TrimRight(name, "0123456789")] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || !makesFunction(f) {
				continue
			}
			found++
			if name := strings.TrimRight(strings.ToLower(f.Name.Name), "0123456789"); !listed[name] {
				t.Errorf("%s: All has no %s", file, f.Name.Name)
			}
		}
	}
	if found != len(All()) {
		t.Errorf("All has %d functions, the files have %d", len(All()), found)
	}
}

// makesFunction tells whether a function returns a Function and takes none.
func makesFunction(f *ast.FuncDecl) bool {
	is := func(e ast.Expr) bool {
		name, ok := e.(*ast.Ident)
		return ok && name.Name == reflect.TypeFor[Function]().Name()
	}
	if f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil || len(f.Type.Results.List) != 1 || !is(f.Type.Results.List[0].Type) {
		return false
	}
	for _, p := range f.Type.Params.List {
		if is(p.Type) {
			return false
		}
	}
	return true
}

func TestAllIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range All() {
		if !regexp.MustCompile(`^[a-z][a-z0-9]*$`).MatchString(n.Name) || seen[n.Name] {
			t.Errorf("name %q", n.Name)
		}
		seen[n.Name] = true
		if n.About == "" || strings.HasSuffix(n.About, ".") {
			t.Errorf("%s: about %q", n.Name, n.About)
		}
		if n.Usual < n.Least || (n.Usual == 0) != (n.Least == 0) {
			t.Errorf("%s: usual dimension %d, least %d", n.Name, n.Usual, n.Least)
		}
		for _, d := range []int{n.Least, n.Usual} {
			if f := n.New(d); n.Usual > 0 && f.Space.Len() != d || !(f.Deviation > 0) {
				t.Errorf("%s with %d floats: %d parameters, deviation %g", n.Name, d, f.Space.Len(), f.Deviation)
			}
		}
	}
}
