//go:build unix

package main_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// composeFile is what the test reads of deploy/compose.yaml.
type composeFile struct {
	Services map[string]struct {
		Command []string `yaml:"command"`
		Volumes []string `yaml:"volumes"`
	} `yaml:"services"`
}

var (
	composePort = regexp.MustCompile(`^/ip4/127\.0\.0\.1/tcp/41\d\d$`)
	composeHub  = regexp.MustCompile(`^/ip4/127\.0\.0\.1/tcp/4101/p2p/\$\{HUB_ID.*\}$`)
)

// TestComposeServicesWorkTogether starts the commands of deploy/compose.yaml as processes, at other
// ports. The first site reports outcomes, and the others use shares.
func TestComposeServicesWorkTogether(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file composeFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	hub := ""
	serve := func(name string) *process {
		service, ok := file.Services[name]
		if !ok {
			t.Fatalf("deploy/compose.yaml has no service %s", name)
		}
		if !slices.Contains(service.Volumes, name+":/data") {
			t.Errorf("%s has the volumes %q, expected one of its own at /data", name, service.Volumes)
		}
		var args []string
		for _, arg := range service.Command {
			switch {
			case composePort.MatchString(arg):
				arg = "/ip4/127.0.0.1/tcp/0"
			case composeHub.MatchString(arg):
				arg = hub
			case arg == "/task.yaml":
				arg = "../../internal/cli/democmd/demo.yaml"
			case arg == "/fbo-node":
				arg = os.Args[0]
			case strings.HasPrefix(arg, "--web="):
				arg = "--web=127.0.0.1:0"
			}
			args = append(args, arg)
		}
		at := slices.Index(args, "--")
		if at < 0 {
			at = len(args)
		}
		command := nodeCommand(slices.Insert(args, at, "--json")...)
		command.Env = append(command.Env, base.DataDirVariable+"="+shortTempDir(t))
		return startCommand(t, command)
	}
	started := serve("hub")
	hub = started.await(t, "its start", isEvent("hub_started")).Addresses[0]
	serve("keeper").await(t, "its start", isEvent("keeper_started"))
	for i, name := range []string{"site-0", "site-1", "site-2"} {
		site := serve(name)
		if i == 0 {
			site.await(t, "four outcomes", func(event) bool { return len(site.of("trial_finished")) >= 4 })
			continue
		}
		site.await(t, "an outcome of a design that used shares", func(e event) bool { return e.Event == "trial_finished" && e.Trial.Why.PeerCount > 0 })
	}
	started.signal(t, syscall.SIGTERM)
	started.wait(t)
}
