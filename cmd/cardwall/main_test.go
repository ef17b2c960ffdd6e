package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// cli runs commands on a data folder.
type cli struct {
	t    *testing.T
	data string
}

// run runs a command and returns its exit status, its trimmed output and its standard error.
func (c cli) run(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errors bytes.Buffer
	status = run(append(args, "--data", c.data), strings.NewReader(stdin), &out, &errors)
	return status, strings.TrimSpace(out.String()), errors.String()
}

// must runs a command that must succeed and returns its trimmed output.
func (c cli) must(args ...string) string {
	c.t.Helper()
	status, out, stderr := c.run("", args...)
	if status != 0 {
		c.t.Fatalf("cardwall %v: %s", args, stderr)
	}
	return out
}

func TestAccountsFromTheCommandLine(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	if id := c.must("user", "add", "--email", "Ada@Example.com", "--name", "Ada"); !strings.HasPrefix(id, "usr_") {
		t.Errorf("user add printed %q, want prefix %q", id, "usr_")
	}
	workspace := c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
	if !regexp.MustCompile(`^wsp_[0-9a-hjkmnp-tv-z]{26}$`).MatchString(workspace) {
		t.Errorf("workspace add printed %q, want an id with prefix %q", workspace, "wsp_")
	}
	token := c.must("token", "add", "--user", "ada@example.com", "--name", "x", "--scopes", "write", "--workspace",
		workspace, "--expires-in", "1h")
	if !regexp.MustCompile(`^cwl_[0-9A-Za-z]{36}$`).MatchString(token) {
		t.Errorf("token add printed %q, want a token with prefix %q", token, "cwl_")
	}
	if list := c.must("token", "list", "--user", "ada@example.com"); !strings.Contains(list, "…"+token[len(token)-4:]) ||
		strings.Contains(list, token) {
		t.Errorf("token list printed %q, want only the end of the token", list)
	}
	org := strings.Fields(c.must("org", "list"))[0]
	c.must("org", "plan", org, "free")
	c.must("org", "read-only", org, "on")
	if list := c.must("org", "list"); !strings.Contains(list, "free") || !strings.Contains(list, "read-only") {
		t.Errorf("org list printed %q, want it to contain %q and %q", list, "free", "read-only")
	}
	if got := c.must("doctor"); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
	info, err := os.Stat(c.data + "/cardwall.db")
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the data file has mode %v (%v), want no access for others", info.Mode(), err)
	}
}

// The --plan flag applies to the organizations created by the demo and workspace add commands.
func TestPlanSettingAppliesToTheCommandLine(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("demo", "--plan", "team")
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Small", "--plan", "free")
	c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Usual")
	list := c.must("org", "list")
	for name, plan := range map[string]string{"Fieldnotes": "team", "Small": "free", "Usual": "business"} {
		if !regexp.MustCompile(`(?m)^org_\S+ +` + plan + ` +` + name + `$`).MatchString(list) {
			t.Errorf("%s is not on plan %s:\n%s", name, plan, list)
		}
	}
	if status, _, stderr := c.run("", "org", "list", "--plan", "gold"); status == 0 ||
		!strings.Contains(stderr, "free") {
		t.Errorf("org list --plan gold: status %d, printed %q; want an error that lists the plans", status, stderr)
	}
}

func TestCommandLineRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	for _, bad := range []struct {
		want string
		args []string
	}{
		{"email is taken", []string{"user", "add", "--email", "ADA@example.com", "--name", "Other"}},
		{"email must be", []string{"user", "add", "--email", "ada", "--name", "Ada"}},
		{"name must not be empty", []string{"user", "add", "--email", "b@example.com", "--name", " "}},
		{"timeZone must be", []string{"user", "add", "--email", "b@example.com", "--name", "B", "--time-zone", "Local"}},
		{"no account with the email address", []string{"token", "add", "--user", "nobody@example.com", "--name", "x"}},
		{"not a scope", []string{"token", "add", "--user", "ada@example.com", "--name", "x", "--scopes", "root"}},
		{"is not a member of workspace wsp_0",
			[]string{"token", "add", "--user", "ada@example.com", "--name", "x", "--workspace", "wsp_0"}},
		{"no organization", []string{"org", "plan", "org_0", "team"}},
		{"must be one of", []string{"org", "plan", "org_0", "gold"}},
		{"no active token", []string{"token", "revoke", "tok_0"}},
		{"--database must be", []string{"doctor", "--database", "mysql://x"}},
		{"unexpected argument", []string{"fly"}},
	} {
		status, out, stderr := c.run("", bad.args...)
		line := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
		if status == 0 || !strings.Contains(line, bad.want) || out != "" && !strings.HasPrefix(out, "Usage") {
			t.Errorf("cardwall %v: status %d, printed %q and %q; want an error line that contains %q", bad.args, status, out, line, bad.want)
		}
	}
	if status, _, stderr := c.run("short\n", "user", "add", "--email", "c@example.com", "--name", "C",
		"--password-stdin"); status == 0 || !strings.Contains(stderr, "password must have") {
		t.Errorf("user add with a short password: status %d, printed %q; want an error about the password", status, stderr)
	}
}

func TestDemoCanRunAgain(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	first, second := c.must("demo"), c.must("demo")
	token := regexp.MustCompile(`cwl_[0-9A-Za-z]{36}`)
	if token.FindString(first) == "" || token.FindString(first) == token.FindString(second) {
		t.Errorf("the demo printed\n%s\nand then\n%s\nwant two different tokens", first, second)
	}
	board := regexp.MustCompile(`brd_\w+`)
	if board.FindString(first) != board.FindString(second) {
		t.Error("the second demo created another board")
	}
	c.must("doctor")
}
