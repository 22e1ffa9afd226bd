//go:build linux && long

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestLongDockerfileBuilds builds the Dockerfile by buildah and runs a task in the image. Nothing is
// pulled: the base image is empty, and has Go and the system's programs as volumes of the build.
func TestLongDockerfileBuilds(t *testing.T) {
	if _, err := exec.LookPath("buildah"); err != nil || os.Getuid() != 0 {
		t.Skip("the build of the Dockerfile needs buildah and root")
	}
	task, err := filepath.Abs(demoTask)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := look(t.Context(), ".", "0.0.0", true)
	if err != nil {
		t.Fatal(err)
	}
	clone, temp := filepath.Join(t.TempDir(), "fbo"), t.TempDir()
	if err := tree.stage(t.Context(), clone); err != nil {
		t.Fatal(err)
	}
	storage := rootForOthers(t)
	buildah := func(command string, args ...string) string {
		t.Helper()
		all := []string{"--storage-driver", "vfs", "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run"), command}
		return strings.TrimSpace(must(t, clone, "buildah", append(all, args...)...))
	}
	goEnv := func(name string) string { return strings.TrimSpace(must(t, clone, "go", "env", name)) }

	base := buildah("from", "scratch")
	buildah("config", "--env", "PATH="+filepath.Join(goEnv("GOROOT"), "bin")+":/usr/bin:/bin", "--env", "GOTOOLCHAIN=local",
		"--env", "GOPROXY="+goEnv("GOPROXY"), "--env", "GOSUMDB="+goEnv("GOSUMDB"), base)
	buildah("commit", "--quiet", base, "docker.io/library/"+baseOf(t, clone))
	build := []string{
		"--isolation", "chroot", "--pull-never", "--format", "docker", "--network", "host",
		"--build-arg", "TARGETOS=linux", "--build-arg", "TARGETARCH=" + runtime.GOARCH, "--build-arg", "BUILDPLATFORM=linux/" + runtime.GOARCH,
		"--volume", temp + ":/tmp", "--volume", goEnv("GOMODCACHE") + ":/root/go/pkg/mod", "--volume", goEnv("GOCACHE") + ":/root/.cache/go-build",
	}
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64", "/etc", goEnv("GOROOT")} {
		if _, err := os.Stat(dir); err == nil {
			build = append(build, "--volume", dir+":"+dir+":ro")
		}
	}
	buildah("bud", append(build, "--tag", "fbo-node", ".")...)

	var made struct {
		imageConfig
		Healthcheck struct{ Test []string }
	}
	text := buildah("inspect", "--type", "image", "--format", "{{json .Docker.Config}}", "fbo-node")
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	made.Labels = nil // buildah's own version
	if !reflect.DeepEqual(made.imageConfig, dockerConfig()) {
		t.Errorf("the Dockerfile gives %+v, want %+v", made.imageConfig, dockerConfig())
	}
	if want := []string{"CMD", "/fbo-node", "status", "--running"}; !reflect.DeepEqual(made.Healthcheck.Test, want) {
		t.Errorf("the health check is %q, want %q", made.Healthcheck.Test, want)
	}
	root := buildah("mount", buildah("from", "--pull-never", "fbo-node"))
	var names []string
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !reflect.DeepEqual(names, []string{"data", "fbo-node"}) {
		t.Errorf("the image has %q, want data and fbo-node", names)
	}
	runImage(t, root, task, made.imageConfig, runtime.Version())
}

// baseOf returns the name of the image of the Dockerfile's first stage.
func baseOf(t *testing.T, dir string) string {
	t.Helper()
	for line := range strings.Lines(string(contentsOf(t, filepath.Join(dir, "Dockerfile")))) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] == "FROM" && fields[len(fields)-1] == "build" {
			return fields[len(fields)-3]
		}
	}
	t.Fatal("the Dockerfile has no stage FROM … AS build")
	return ""
}
