//go:build linux && long

package main_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// Without a container engine, the image that the Dockerfile describes is made by
// hand: its build command is run, its files are laid out, and its programs are
// started as its user, in namespaces of their own, with nothing writable but the
// volume.

// container is an image laid out in a directory.
type container struct {
	t                  *testing.T
	source, root       string // what the build made; the image's file system
	user, volume       string
	env, start, health []string
	defaults           []string // arguments when none are given
}

// enter is run by unshare: what an engine does before it starts a program.
const enter = `root=$1 volume=$2 user=$3; shift 3
mount --bind "$root" "$root" && mount --bind "$root$volume" "$root$volume" &&
mount -o remount,ro,bind "$root" && mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" &&
exec chroot --userspec="$user" "$root" "$@"`

func newContainer(t *testing.T) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounts and a change of the root directory need root")
	}
	if out, err := exec.Command("unshare", "--mount", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("namespaces cannot be made here: %v %s", err, out)
	}
	c := &container{t: t, root: shortTempDir(t), source: t.TempDir()}
	if err := os.Chmod(c.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"proc", "dev"} { // every engine makes these
		c.must(os.Mkdir(filepath.Join(c.root, dir), 0o755))
	}
	text, err := os.ReadFile("../../Dockerfile")
	c.must(err)
	stage := ""
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", " "), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "FROM" {
			stage = rest
		}
		switch {
		case strings.HasSuffix(stage, "AS build"):
			if word == "RUN" && strings.Contains(rest, "go build") {
				c.build(rest)
			}
		case stage == "scratch":
			c.instruction(word, strings.TrimSpace(rest))
		default:
			if word != "#" && line != "" {
				t.Fatalf("%q is in the stage %q, which this test does not know", line, stage)
			}
		}
	}
	return c
}

func (c *container) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// build runs the command as it is, but for its output.
func (c *container) build(command string) {
	c.t.Helper()
	build := exec.Command("sh", "-c", strings.ReplaceAll(command, "/out", c.source))
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (c *container) instruction(word, rest string) {
	c.t.Helper()
	switch word {
	case "COPY":
		c.copy(rest)
	case "USER":
		c.user = rest
	case "ENV":
		c.env = append(c.env, rest)
	case "VOLUME":
		c.volume = rest
	case "HEALTHCHECK":
		_, command, _ := strings.Cut(rest, "CMD ")
		c.must(json.Unmarshal([]byte(command), &c.health))
	case "ENTRYPOINT":
		c.must(json.Unmarshal([]byte(rest), &c.start))
	case "CMD":
		c.must(json.Unmarshal([]byte(rest), &c.defaults))
	case "FROM", "EXPOSE", "":
	default:
		c.t.Fatalf("this test does not know %s", word)
	}
}

func (c *container) copy(rest string) {
	c.t.Helper()
	parts := regexp.MustCompile(`^--from=build( --chown=(\S+))? /out(/\S+) (/\S+)$`).FindStringSubmatch(rest)
	if parts == nil {
		c.t.Fatalf("this test does not know COPY %s", rest)
	}
	owner, target := parts[2], filepath.Join(c.root, parts[4])
	if owner == "" {
		owner = "0:0"
	}
	for _, command := range [][]string{{"cp", "-r", filepath.Join(c.source, parts[3]), target}, {"chown", "-R", owner, target}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			c.t.Fatalf("%q: %v %s", command, err, out)
		}
	}
}

func (c *container) command(args ...string) *exec.Cmd {
	command := exec.Command("unshare", append([]string{"--mount", "--net", "--", "sh", "-c", enter, "enter", c.root, c.volume, c.user}, args...)...)
	command.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, c.env...)
	return command
}

// run is the entry point with other arguments than the defaults.
func (c *container) run(args ...string) *exec.Cmd { return c.command(join(c.start, args)...) }

func TestLongContainer(t *testing.T) {
	c := newContainer(t)
	t.Run("static", func(t *testing.T) {
		program, err := elf.Open(filepath.Join(c.root, c.start[0]))
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		for _, part := range program.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				t.Errorf("the program needs a loader: it has a part %v", part.Type)
			}
		}
		if left, err := os.ReadDir(c.root); err != nil || len(left) != 4 {
			t.Errorf("the image holds %v, %v; want dev, proc, the volume and the program", left, err)
		}
	})
	t.Run("user", func(t *testing.T) {
		if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(c.user) {
			t.Errorf("user %q: want numbers other than root's, since the image has no list of users", c.user)
		}
		e := finish(t, c.run("peer-id", "--data-dir", "/elsewhere"))
		if e.code != base.ExitFailed || !strings.Contains(e.stderr, "/elsewhere") {
			t.Errorf("outside the volume: exit code %d, %s%s", e.code, e.stdout, e.stderr)
		}
	})
	t.Run("hub", c.testHub)
	t.Run("run", c.testRun)
}

// The image as it is: a hub, healthy while it runs, with the same identity after
// a restart.
func (c *container) testHub(t *testing.T) {
	if e := finish(t, c.command(c.health...)); e.code != base.ExitFailed {
		t.Fatalf("health before the start: exit code %d, %s", e.code, e.stderr)
	}
	var said []string
	for range 2 {
		hub := c.run(c.defaults...)
		var out bytes.Buffer
		hub.Stdout, hub.Stderr = &out, &out
		if err := hub.Start(); err != nil {
			t.Fatal(err)
		}
		slow := time.AfterFunc(patienceOfTests, func() { _ = hub.Process.Kill() })
		for begun := time.Now(); finish(t, c.command(c.health...)).code != base.ExitDone && time.Since(begun) < patienceOfTests; {
			time.Sleep(100 * time.Millisecond)
		}
		_ = hub.Process.Signal(syscall.SIGTERM)
		err := hub.Wait()
		slow.Stop()
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		first, _, _ := strings.Cut(out.String(), "\n")
		said = append(said, first)
		if e := finish(t, c.command(c.health...)); e.code != base.ExitFailed {
			t.Errorf("health after the end: exit code %d, %s", e.code, e.stdout)
		}
	}
	if said[0] != said[1] || !strings.Contains(said[0], "data in "+c.volume+"/hub") {
		t.Errorf("the two starts say %q", said)
	}
}

// Evaluations need nothing but a command; here it is fbo-node itself.
func (c *container) testRun(t *testing.T) {
	const file = "/task.yaml"
	text := strings.ReplaceAll(bowlTask, "name: y", "name: momentum")
	text = strings.ReplaceAll(text, "low: -2, high: 2", "low: 0, high: 0.9")
	if err := os.WriteFile(filepath.Join(c.root, file), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	e := finish(t, c.run("run", file, "--evals", "3", "--", c.start[0], "train", "--l2", "{x}", "--momentum", "{momentum}"))
	if e.code != base.ExitDone || !strings.Contains(e.stdout, "in 3 evaluations (0 failed)") {
		t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	if e := finish(t, c.run("status")); e.code != base.ExitDone || !strings.Contains(e.stdout, "trials    3 done, 0 failed") {
		t.Errorf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
}
