package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// platform is an operating system and processor for which the program is built.
type platform struct {
	name       string // used in names of files; a platform with a wheel has the same name in python/build_wheels.py
	goos, arch string
	wheel      bool
}

var platforms = []platform{
	{"linux-amd64", "linux", "amd64", true},
	{"linux-arm64", "linux", "arm64", true},
	{"linux-armv7", "linux", "arm", false},
	{"macos-amd64", "darwin", "amd64", true},
	{"macos-arm64", "darwin", "arm64", true},
	{"windows-amd64", "windows", "amd64", true},
}

// platformsOf returns the platforms with these names, or all platforms if there are no names.
func platformsOf(names []string) (some []platform, err error) {
	var known []string
	for _, p := range platforms {
		known = append(known, p.name)
		if len(names) == 0 || slices.Contains(names, p.name) {
			some = append(some, p)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--platform %q: expected %s", name, strings.Join(known, ", "))
		}
	}
	return some, nil
}

func (p platform) program() string {
	if p.goos == "windows" {
		return "fbo-node.exe"
	}
	return "fbo-node"
}

// folder returns the name of the archive without its ending. It is also the name of the only folder
// in the archive.
func (p platform) folder(version string) string { return "fbo-node-" + version + "-" + p.name }

func (p platform) archive(version string) string {
	if p.goos == "windows" {
		return p.folder(version) + ".zip"
	}
	return p.folder(version) + ".tar.gz"
}

// environment returns the environment variables of a build. These are the user's, but variables
// that affect the result have fixed values or are removed. An empty cache means Go's own build
// cache.
func environment(cache string, more ...string) []string {
	fixed := []string{
		"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOARM=7", "GOFIPS140=off", "GOWORK=off",
		"GOFLAGS=-buildvcs=true", // also overrides the settings of `go env -w`
	}
	if cache != "" {
		fixed = append(fixed, "GOCACHE="+cache)
	}
	fixed = append(fixed, more...)
	var all []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "GOOS", "GOARCH", "GOEXPERIMENT", "GOBIN":
			continue
		}
		all = append(all, variable)
	}
	return append(all, fixed...) // if a name occurs twice, the last value applies
}

func (p platform) environment(cache string) []string {
	return environment(cache, "GOOS="+p.goos, "GOARCH="+p.arch)
}

// command runs a program in a folder, and writes its output to standard error.
func command(ctx context.Context, dir string, env []string, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return nil
}

// sbomModule is the program that lists the components of a Go program (its SBOM).
const sbomModule = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// sbomTool builds the program of sbomModule and returns its path. It uses fixed build settings,
// because the lists contain the hash of that program.
func sbomTool(ctx context.Context, dir string) (string, error) {
	bin, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	// go install with a version must run outside of all modules.
	err = command(ctx, bin, environment("", "GOBIN="+bin), "go", "install", "-trimpath", sbomModule)
	return filepath.Join(bin, "cyclonedx-gomod"), err
}

const wheelScript = "python/build_wheels.py"

// builder builds releases of one source.
type builder struct {
	source     source
	platforms  []platform
	everything bool   // all platforms are built
	sbom       string // path of the program of sbomModule
	python     string // Python interpreter that builds the wheels; empty: build none
	temp       string
}

// build writes all files of a release to a folder. An empty cache means Go's own build cache.
func (b builder) build(ctx context.Context, out, cache string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(b.temp, "")
	if err != nil {
		return err
	}
	stage := filepath.Join(work, "fbo")
	if err := b.source.stage(ctx, stage); err != nil {
		return err
	}
	var variants []variant
	for _, p := range b.platforms {
		files, err := b.forPlatform(ctx, p, stage, out, cache)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Println(p.archive(b.source.version))
		if p.inImage() {
			variants = append(variants, variant{p.arch, files})
		}
	}
	if len(variants) > 0 {
		name := imageName(b.source.version)
		if err := packImage(filepath.Join(out, name), b.source, variants); err != nil {
			return err
		}
		fmt.Println(name)
	}
	if err := b.sources(ctx, stage, out); err != nil {
		return err
	}
	if err := b.wheels(ctx, stage, out, cache); err != nil {
		return err
	}
	notes := absoluteLinks(b.source.notes, b.source.at())
	if err := os.WriteFile(filepath.Join(out, "RELEASE_NOTES.md"), []byte(notes), 0o644); err != nil {
		return err
	}
	return writeSums(out)
}

// at returns the version that links to files refer to: the tag or, in a snapshot, the commit.
func (s source) at() string {
	if s.snapshot {
		return s.commit
	}
	return s.stamped
}

// forPlatform builds the archive of one platform and the list of its program's components. It returns
// the files of the archive.
func (b builder) forPlatform(ctx context.Context, p platform, stage, out, cache string) ([]file, error) {
	built := filepath.Join(filepath.Dir(stage), p.name, p.program())
	if err := b.compile(ctx, p, stage, built, cache); err != nil {
		return nil, err
	}
	files, err := b.contents(ctx, p, stage, built, cache)
	if err != nil {
		return nil, err
	}
	version := b.source.version
	if err := pack(filepath.Join(out, p.archive(version)), p.folder(version), b.source.time, files); err != nil {
		return nil, err
	}
	if deb := p.deb(version); deb != "" {
		if err := packDeb(filepath.Join(out, deb), b.source, p.arch, files); err != nil {
			return nil, err
		}
		fmt.Println(deb)
	}
	list := filepath.Join(out, p.folder(version)+".cdx.json")
	// GOPROXY=off: the modules are already in Go's cache, and the list must not depend on the
	// network.
	return files, command(ctx, stage, append(p.environment(cache), "GOPROXY=off"), b.sbom, "app", "-json", "-noserial", "-notimestamp",
		"-std", "-licenses", "-assert-licenses", "-main", "cmd/fbo-node", "-output", list, ".")
}

// compile builds the program, and verifies the version that the program will report.
func (b builder) compile(ctx context.Context, p platform, stage, to, cache string) error {
	err := command(ctx, stage, p.environment(cache), "go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", to, "./cmd/fbo-node")
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(to)
	if err != nil {
		return err
	}
	if got := info.Main.Version; b.source.stamped != "" && got != b.source.stamped {
		return fmt.Errorf("the program says that it is %s, not %s: is there another tag at this commit?", got, b.source.stamped)
	}
	return nil
}

// contents returns the files for the archive of a platform.
func (b builder) contents(ctx context.Context, p platform, stage, built, cache string) (all []file, err error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	if p.goos == "linux" {
		units, err := filepath.Glob(filepath.Join(stage, "deploy", "*.service"))
		if err != nil {
			return nil, err
		}
		for _, unit := range units {
			names = append(names, "deploy/"+filepath.Base(unit))
		}
	}
	for _, name := range names {
		f, err := read(filepath.Join(stage, filepath.FromSlash(name)), name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".md") {
			f.data = []byte(absoluteLinks(string(f.data), b.source.at()))
		}
		all = append(all, f)
	}
	if p.goos != "windows" {
		pages, err := manual(b.source.version, b.source.time)
		if err != nil {
			return nil, err
		}
		all = append(all, pages...)
	}
	modules, err := modulesOf(ctx, p, stage, cache)
	if err != nil {
		return nil, err
	}
	licences, err := licencesOf(modules)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(licenceDir(stage), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(licenceDir(stage), p.name+".txt"), []byte(licences), 0o644); err != nil {
		return nil, err
	}
	all = append(all, file{licencesFile, []byte(licences), false})
	program, err := read(built, p.program())
	program.executable = true
	return append(all, program), err
}

// sources builds the archive of the source code.
func (b builder) sources(ctx context.Context, stage, out string) error {
	names, err := filesOf(ctx, stage)
	if err != nil {
		return err
	}
	var files []file
	for _, name := range names {
		f, err := read(filepath.Join(stage, name), name)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	folder := "fbo-" + b.source.version
	fmt.Println(folder + "-source.tar.gz")
	return pack(filepath.Join(out, folder+"-source.tar.gz"), folder, b.source.time, files)
}

// licenceDir returns the folder with the licences of each platform's program, which the wheels
// contain.
func licenceDir(stage string) string { return filepath.Join(filepath.Dir(stage), "licences") }

// wheels builds the Python wheels, if the source has them.
func (b builder) wheels(ctx context.Context, stage, out, cache string) error {
	if !hasPythonPackage(stage) || b.python == "" {
		fmt.Println("no wheels")
		return nil
	}
	args := []string{wheelScript, "--out", out, "--licences", licenceDir(stage)}
	if !b.everything {
		var some []string
		for _, p := range b.platforms {
			if p.wheel {
				some = append(some, p.name)
			}
		}
		if len(some) == 0 {
			fmt.Println("no wheels")
			return nil
		}
		args = append(args, some...)
	}
	epoch := fmt.Sprintf("SOURCE_DATE_EPOCH=%d", b.source.time.Unix())
	return command(ctx, stage, environment(cache, epoch), b.python, args...)
}
