package base

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	t.Parallel()
	build := func(version, revision string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}}}
	}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3":     build("v1.2.3", "84d945a"),
		"84d945a":    build("(devel)", "84d945a"),
		"unreleased": build("(devel)", ""),
	} {
		if got := versionOf(info); got != want {
			t.Errorf("the version is %q, want %q", got, want)
		}
	}
	if got := versionOf(nil); got != "unreleased" {
		t.Errorf("without a build's information the version is %q, want unreleased", got)
	}
}
