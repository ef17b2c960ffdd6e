package main

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

// VERSION is the only place to change the version. A test checks that
// CHANGELOG.md begins with the same version.
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

// revision returns the commit of the build in parentheses, or "" if the program
// was built outside of a repository.
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
			changed = ", with changes"
		}
	}
	if commit == "" {
		return ""
	}
	return " (" + commit + changed + ")"
}
