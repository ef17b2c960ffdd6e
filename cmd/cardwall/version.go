package main

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

// versionFile is the content of the VERSION file, the only place where the version
// is set. A test checks that it is the newest release in CHANGELOG.md.
//
//go:embed VERSION
var versionFile string

// apiVersion returns the version of the program and of the API, such as v0.2.0.
func apiVersion() string { return strings.TrimSpace(versionFile) }

type versionCommand struct{}

func (versionCommand) Run(g *globals) error {
	g.print("cardwall %s%s", apiVersion(), revision())
	return nil
}

// revision returns " (commit)" with the commit that the program was built from, or ""
// if the build info does not record it. It marks a build with uncommitted changes.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", modified"
		}
	}
	if commit == "" {
		return ""
	}
	return " (" + commit + changed + ")"
}
