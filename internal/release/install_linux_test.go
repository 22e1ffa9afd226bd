//go:build linux && long

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	candidateVersion = "0.99.0-rc.1"
	demoTask         = "../../internal/cli/democmd/demo.yaml"
	threeEvaluations = "in 3 evaluations (0 failed)"
)

// TestLongReleaseInstalls makes a release candidate of the working tree by the commands of
// docs/releases.md, installs each of its files that this machine can run, and runs a small task with it.
func TestLongReleaseInstalls(t *testing.T) {
	task, err := filepath.Abs(demoTask)
	if err != nil {
		t.Fatal(err)
	}
	runARM, err := filepath.Abs("../../.ci/run-arm")
	if err != nil {
		t.Fatal(err)
	}
	c := makeCandidate(t)
	c.task, c.runARM = task, runARM
	t.Run("sums", func(t *testing.T) { must(t, c.dist, "sha256sum", "--check", "--strict", "--quiet", sumsFile) })
	t.Run("archive", c.testArchive)
	for _, p := range []platform{{name: "linux-arm64", arch: "aarch64"}, {name: "linux-armv7", arch: "arm"}} {
		t.Run(p.name, func(t *testing.T) { c.testEmulated(t, p) })
	}
	t.Run("wheel", c.testWheel)
	t.Run("deb", c.testDeb)
	t.Run("image", c.testImage)
}

// madeRelease is a release candidate in a folder.
type madeRelease struct {
	source
	dist         string
	python       string // empty: there are no wheels
	task, runARM string // paths of a task file and of .ci/run-arm
}

// makeCandidate sets the version in a clone of the working tree, tags the commit and builds it.
func makeCandidate(t *testing.T) madeRelease {
	t.Helper()
	tree, err := look(t.Context(), ".", "0.0.0", true)
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "fbo")
	if err := tree.stage(t.Context(), clone); err != nil {
		t.Fatal(err)
	}
	changes := string(contentsOf(t, filepath.Join(clone, "CHANGELOG.md")))
	if newest(changes) != unreleased { // the commit of a release
		changes = strings.Replace(changes, "\n## ", "\n## "+unreleased+"\n\n- New.\n\n## ", 1)
		write(t, filepath.Join(clone, "CHANGELOG.md"), changes)
	}
	runGit(t, clone, "config", "user.name", "a")
	runGit(t, clone, "config", "user.email", "a@example.org")
	runGit(t, clone, "add", "--all")
	runGit(t, clone, "commit", "--quiet", "--allow-empty", "--message", "the working tree")
	t.Chdir(clone)
	c := madeRelease{dist: filepath.Join(clone, "dist"), python: pythonWithPip()}
	if err := run(t.Context(), []string{candidateVersion, "--prepare"}); err != nil {
		t.Fatal(err)
	}
	runGit(t, clone, "tag", "v"+candidateVersion)
	build := []string{candidateVersion, "--platform=linux-amd64,linux-arm64,linux-armv7"}
	if c.python == "" {
		build = append(build, "--wheels=false")
	} else {
		build = append(build, "--python", c.python)
	}
	if err := run(t.Context(), build); err != nil {
		t.Fatal(err)
	}
	if c.source, err = look(t.Context(), clone, candidateVersion, false); err != nil {
		t.Fatal(err)
	}
	return c
}

// pythonWithPip returns a Python that builds wheels and makes environments, or "".
func pythonWithPip() string {
	for _, name := range []string{os.Getenv("FBO_PYTHON"), "python3"} {
		if name != "" && exec.Command(name, "-c", "import ensurepip, pip").Run() == nil {
			return name
		}
	}
	return ""
}

// here returns the platform of this machine, and skips the test if no release is for it.
func here(t *testing.T) platform {
	t.Helper()
	for _, p := range platforms {
		if p.goos == "linux" && p.arch == runtime.GOARCH {
			return p
		}
	}
	t.Skipf("no release is for linux/%s", runtime.GOARCH)
	return platform{}
}

// unpackArchive unpacks the archive of a platform and returns its folder.
func (c madeRelease) unpackArchive(t *testing.T, p platform) string {
	t.Helper()
	dir := t.TempDir()
	must(t, dir, "tar", "-xzf", filepath.Join(c.dist, p.archive(c.version)))
	return filepath.Join(dir, p.folder(c.version))
}

func (c madeRelease) testArchive(t *testing.T) {
	dir := c.unpackArchive(t, here(t))
	program := filepath.Join(dir, "fbo-node")
	if out := must(t, dir, program, "version"); !strings.Contains(out, "v"+candidateVersion) || !strings.Contains(out, c.commit) {
		t.Errorf("version prints %q, want v%s and the commit %s", out, candidateVersion, c.commit)
	}
	out := must(t, dir, program, tuning(program, c.task, filepath.Join(t.TempDir(), "data"))...)
	if !strings.Contains(out, threeEvaluations) {
		t.Errorf("the run prints\n%s", out)
	}
}

// testEmulated runs a demo with the program for another processor, in which nodes are processes.
func (c madeRelease) testEmulated(t *testing.T, p platform) {
	native := runtime.GOARCH == "arm64" && p.name == "linux-arm64"
	_, static := exec.LookPath("qemu-" + p.arch + "-static")
	_, dynamic := exec.LookPath("qemu-" + p.arch)
	if !native && static != nil && dynamic != nil {
		t.Skipf("programs of this processor need qemu-%s-static (qemu-user-static)", p.arch)
	}
	probe := exec.Command("unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "binfmt_misc", "none", "/proc/sys/fs/binfmt_misc")
	if out, err := probe.CombinedOutput(); !native && err != nil {
		t.Skipf("nodes that start themselves need binfmt_misc in a user namespace (Linux 6.7): %v %s", err, out)
	}
	if out := must(t, c.dist, c.runARM, filepath.Join(c.dist, p.archive(c.version))); !strings.Contains(out, "v"+candidateVersion) {
		t.Errorf("the program prints\n%s", out)
	}
}

// threeTrials is a program in Python that optimises a function.
const threeTrials = `import fbo
print(fbo.minimize(lambda x: (x - 0.3) ** 2, [fbo.Float("x", 0, 1)], evals=3, seed=1))
print(fbo.__version__)
`

func (c madeRelease) testWheel(t *testing.T) {
	if c.python == "" {
		t.Skip("wheels need a Python with pip and ensurepip (python3-venv)")
	}
	tag := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[here(t).arch]
	wheels, err := filepath.Glob(filepath.Join(c.dist, "fbo-*manylinux*_"+tag+"*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels for %q are %q, %v; want one", tag, wheels, err)
	}
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	must(t, home, c.python, "-m", "venv", home)
	for _, variable := range []string{"FBO_NODE", "PYTHONPATH"} {
		t.Setenv(variable, "")
		os.Unsetenv(variable)
	}
	t.Setenv("FBO_DATA_DIR", filepath.Join(home, "data"))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	must(t, home, filepath.Join(bin, "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheels[0])
	if out := must(t, home, filepath.Join(bin, "fbo-node"), "version"); !strings.Contains(out, "v"+candidateVersion) {
		t.Errorf("version prints %q, want v%s", out, candidateVersion)
	}
	out := must(t, home, filepath.Join(bin, "python"), "-c", threeTrials)
	if !strings.Contains(out, "3 trials with a value, 0 failed") || !strings.Contains(out, "\n0.99.0rc1\n") {
		t.Errorf("the search prints\n%s", out)
	}
}

// overSystem changes the root directory to a copy-on-write view of this system, which ends with the
// process. Its arguments are an empty folder, two files to copy and a script for the new root.
const overSystem = `dir=$1 package=$2 task=$3 inside=$4
mount -t tmpfs none "$dir"
mkdir "$dir/upper" "$dir/work" "$dir/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
mount -t proc none "$dir/root/proc"
mount --bind /dev "$dir/root/dev"
cp "$package" "$dir/root/package.deb"
cp "$task" "$dir/root/task.yaml"
exec chroot "$dir/root" sh -euc "$inside"`

// A package that is removed leaves what users wrote, and a new installation continues with it.
const debScript = `cd /
gone() {
  for path in /usr/bin/fbo-node /usr/lib/systemd/system/fbo-hub.service /usr/share/doc/fbo-node /usr/share/man/man1/fbo-node.1.gz; do
    [ ! -e "$path" ] || { echo "$path is left after dpkg $1"; exit 1; }
  done
  for path in /etc/fbo/a.yaml /var/lib/fbo/a/identity.key /var/lib/fbo/a/journal.db; do
    [ -e "$path" ] || { echo "$path is gone after dpkg $1"; exit 1; }
  done
}
dpkg --install /package.deb
fbo-node version
[ -z "$(dpkg --verify fbo-node)" ]
bash -c '. /usr/share/bash-completion/completions/fbo-node && complete -p fbo-node'
if command -v man; then man --pager=cat fbo-node-run | grep -q -e --evals; fi
if command -v systemd-analyze; then
  systemd-analyze verify --man=no fbo-hub.service fbo-serve.service fbo-keep@a.service fbo-node@a.service 2>&1 | tee /units
  if grep fbo- /units; then exit 1; fi
fi
install -m 644 /task.yaml /etc/fbo/a.yaml
install -d -o 65532 /var/lib/fbo
setpriv --reuid=65532 --regid=65532 --clear-groups fbo-node "$@"
dpkg --remove fbo-node
gone --remove
dpkg --install /package.deb
fbo-node status --data-dir /var/lib/fbo/a
dpkg --purge fbo-node
gone --purge`

func (c madeRelease) testDeb(t *testing.T) {
	name := here(t).deb(c.version)
	if os.Getuid() != 0 {
		t.Skip("an installation needs root")
	}
	for _, tool := range []string{"dpkg", "unshare", "setpriv", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("an installation needs %s", tool)
		}
	}
	script := strings.Replace(debScript, `"$@"`, quoted(tuning("/usr/bin/fbo-node", "/etc/fbo/a.yaml", "/var/lib/fbo/a")), 1)
	enter := func(script string) ([]byte, error) {
		return exec.Command("unshare", "--mount", "--pid", "--fork", "sh", "-euc", overSystem, "enter", t.TempDir(), filepath.Join(c.dist, name), c.task, script).CombinedOutput()
	}
	if out, err := enter("true"); err != nil {
		t.Skipf("an overlay of this system cannot be mounted: %v %s", err, out)
	}
	out, err := enter(script)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, part := range []string{"fbo-node v" + candidateVersion, threeEvaluations, "3 done, 0 failed"} {
		if !bytes.Contains(out, []byte(part)) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
}

// In the image the program is the only one, runs as the image's user, and may write to the volume
// only.
func (c madeRelease) testImage(t *testing.T) {
	image := filepath.Join(c.dist, imageName(c.version))
	for _, p := range platforms {
		if p.inImage() {
			_, layer := openImage(t, image, p.arch, c.time)
			if program := layer[len(layer)-1]; !bytes.Equal(program.data, contentsOf(t, filepath.Join(c.unpackArchive(t, p), "fbo-node"))) {
				t.Errorf("%s of the image differs from fbo-node in the archive for %s", program.Name, p.name)
			}
		}
	}
	if os.Getuid() != 0 {
		t.Skip("a change of the root directory needs root")
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("the mounts of a container need unshare (util-linux)")
	}
	p := here(t)
	if !p.inImage() {
		t.Skipf("the image has no program for %s", p.arch)
	}
	root := rootForOthers(t)
	config, layer := openImage(t, image, p.arch, c.time)
	unpackLayer(t, root, layer)
	runImage(t, root, c.task, config.Config, "v"+candidateVersion)
}

// rootForOthers makes a folder for a root directory, which other users may enter.
func rootForOthers(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp("", "image")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// inImage starts a program in a root directory with the folders that every engine makes. Its arguments
// are the directory, the user and the command.
const inImage = `root=$1 user=$2
shift 2
mkdir -p "$root/dev" "$root/proc"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
exec chroot --userspec="$user" "$root" "$@"`

// runImage starts the program of an image's root directory as an engine does, and runs a task with it.
func runImage(t *testing.T, root, task string, config imageConfig, version string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "task.yaml"), contentsOf(t, task), 0o644); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) string {
		t.Helper()
		command := exec.Command("unshare", slices.Concat([]string{"--mount", "sh", "-euc", inImage, "enter", root, config.User}, config.Entrypoint, args)...)
		command.Env = append([]string{"PATH=" + os.Getenv("PATH")}, config.Env...)
		return finished(t, command)
	}
	if out := start("version"); !strings.Contains(out, version) {
		t.Errorf("version prints %q, want %s", out, version)
	}
	if out := start(tuning(config.Entrypoint[0], "/task.yaml", "/data")...); !strings.Contains(out, threeEvaluations) {
		t.Errorf("the run prints\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(root, "data/journal.db")); err != nil {
		t.Errorf("the volume has no journal: %v", err)
	}
}

// tuning returns the arguments of a run of three evaluations, in which the program itself trains.
func tuning(program, task, data string) []string {
	return []string{
		"run", task, "--data-dir", data, "--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--evals", "3", "--",
		program, "train", "--node", "0", "--learning-rate", "{learning_rate}", "--l2", "{l2}", "--batch-size", "{batch_size}", "--optimizer", "{optimizer}",
	}
}

// quoted returns words for a shell.
func quoted(words []string) string { return "'" + strings.Join(words, "' '") + "'" }

// must runs a program in a folder and returns its output.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir = dir
	return finished(t, command)
}

// finished runs a command and returns its output.
func finished(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	command.WaitDelay = time.Minute
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", command.Args, err, out)
	}
	return string(out)
}
