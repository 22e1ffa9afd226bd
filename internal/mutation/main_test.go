package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module of one function with one test, and a patch.
func module(t *testing.T, patch string) mutant {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example\n\ngo 1.26\n",
		"sum/sum.go":    "package sum\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\nfunc Unused() int {\n\treturn 1\n}\n",
		"sum/s_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(Sum(1, 2))\n\t}\n}\n",
		"fault.patch":   "Fault: x.\nPackages: ./sum\n\n" + patch,
	} {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := read(root, filepath.Join(root, "fault.patch"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// patch replaces the line after the head of a function, which is at the given line of sum.go.
func patch(line, head, old, changed string) string {
	return "diff --git a/sum/sum.go b/sum/sum.go\n--- a/sum/sum.go\n+++ b/sum/sum.go\n@@ -" + line + ",3 +" + line + ",3 @@\n " +
		head + "\n-\t" + old + "\n+\t" + changed + "\n }\n"
}

func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		patch string
		test  string
		want  error
	}{
		"caught":           {patch("3", "func Sum(a, b int) int {", "return a + b", "return a - b"), "TestSum", nil},
		"survives":         {patch("7", "func Unused() int {", "return 1", "return 2"), "", errSurvives},
		"does not apply":   {patch("3", "func Sum(a, b int) int {", "return a * b", "return a - b"), "", errApply},
		"does not compile": {patch("3", "func Sum(a, b int) int {", "return a + b", "return a + c"), "", errCompile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := module(t, c.patch)
			before, _ := os.ReadFile(filepath.Join(m.root, "sum/sum.go"))
			test, err := m.check(t.Context())
			if !errors.Is(err, c.want) || !strings.HasPrefix(test, c.test) {
				t.Errorf("test %q, error %v; expected %q, %v", test, err, c.test, c.want)
			}
			if after, _ := os.ReadFile(filepath.Join(m.root, "sum/sum.go")); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// Every patch of the project names existing files. go run ./internal/mutation applies them.
func TestPatchesNameFiles(t *testing.T) {
	files, err := filepath.Glob("patches/*.patch")
	if err != nil || len(files) != 26 {
		t.Fatalf("%d patches, %v; expected 26", len(files), err)
	}
	for _, file := range files {
		m, err := read("../..", file)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := m.apply(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
