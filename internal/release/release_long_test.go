//go:build long

package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The same commit gives the same bytes from two clones, the second with an empty build
// cache, and the program prints the version.
func TestLongReleaseBuiltTwiceIsTheSame(t *testing.T) {
	dir, out := repository(t), t.TempDir()
	s, err := look(t.Context(), dir, "0.1.0", false)
	if err != nil {
		t.Fatal(err)
	}
	p := platform{"here", runtime.GOOS, runtime.GOARCH, false}
	b := builder{source: s, platforms: []platform{p}}
	var made []string
	for _, name := range []string{"a", "b"} {
		stage, to := filepath.Join(t.TempDir(), "fbo"), filepath.Join(out, name)
		built := filepath.Join(t.TempDir(), p.program())
		cache := ""
		if name == "b" {
			cache = t.TempDir()
		}
		if err := errors.Join(os.Mkdir(to, 0o755), s.stage(t.Context(), stage), b.compile(t.Context(), p, stage, built, cache)); err != nil {
			t.Fatal(err)
		}
		files, err := b.contents(t.Context(), p, stage, built, cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := pack(filepath.Join(to, p.archive("0.1.0")), p.folder("0.1.0"), s.time, files); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.sources(t.Context(), stage, to), b.wheels(t.Context(), stage, to, cache), writeSums(to)); err != nil {
			t.Fatal(err)
		}
		made = append(made, to)
	}
	if err := same(made[0], made[1]); err != nil {
		t.Error(err)
	}
	sums := string(contentsOf(t, filepath.Join(made[0], sumsFile)))
	if lines := strings.Split(sums, "\n"); len(lines) != 3 || !strings.HasSuffix(lines[0], "  fbo-0.1.0-source.tar.gz") {
		t.Errorf("sums:\n%s", sums)
	}
	if runtime.GOOS == "linux" {
		got := unpack(t, filepath.Join(made[0], p.archive("0.1.0")), s.time)
		pages := 0
		for name := range got {
			if strings.HasPrefix(name, "fbo-node-0.1.0-here/man/man1/") {
				pages++
			}
		}
		if len(got)-pages != 6 || !strings.Contains(got["fbo-node-0.1.0-here/man/man1/fbo-node-run.1"], "evals") || !strings.Contains(got["fbo-node-0.1.0-here/"+licencesFile], "Go's library: LICENSE") || got["fbo-node-0.1.0-here/deploy/a.service"] != "644 unit\n" ||
			got["fbo-node-0.1.0-here/README.md"] != "644 [how]("+home+"/blob/v0.1.0/docs/a.md)\n" ||
			!strings.HasPrefix(got["fbo-node-0.1.0-here/fbo-node"], "755 ") {
			t.Errorf("the archive holds %.200q", got)
		}
	}
	write(t, filepath.Join(made[1], "fbo-0.1.0-source.tar.gz"), "other")
	write(t, filepath.Join(made[1], "more"), "more")
	mustFail(t, same(made[0], made[1]), `these differ: ["fbo-0.1.0-source.tar.gz" "more"]`)

	b.source.stamped = "v0.1.1"
	stage := filepath.Join(t.TempDir(), "fbo")
	if err := s.stage(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	mustFail(t, b.compile(t.Context(), p, stage, filepath.Join(t.TempDir(), "p"), ""), "says that it is v0.1.0, not v0.1.1")
}
