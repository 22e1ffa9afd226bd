package base

import (
	"runtime/debug"
)

// Version returns the version of this program.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf returns the version of a build or, where it has none, its revision.
func versionOf(info *debug.BuildInfo) string {
	if info == nil {
		return "unreleased"
	}
	if version := info.Main.Version; version != "" && version != "(devel)" {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && setting.Value != "" {
			return setting.Value
		}
	}
	return "unreleased"
}
