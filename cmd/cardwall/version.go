package main

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

// VERSION is the one place that names the version. A release has the same one at
// the top of CHANGELOG.md, which a test checks.
//
//go:embed VERSION
var versionFile string

// apiVersion returns the version of the program, such as v0.2.0, which is also
// that of the interface.
func apiVersion() string { return strings.TrimSpace(versionFile) }

type versionCommand struct{}

func (versionCommand) Run(g *globals) error {
	g.print("cardwall %s%s", apiVersion(), revision())
	return nil
}

// revision returns the commit that the program was built from, in parentheses, or
// "" if it was built outside of a repository.
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
