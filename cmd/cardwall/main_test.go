package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// cli runs the program with a new data folder.
type cli struct {
	t    *testing.T
	data string
}

func (c cli) run(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, problems bytes.Buffer
	status = run(append(args, "--data", c.data), strings.NewReader(stdin), &out, &problems)
	return status, strings.TrimSpace(out.String()), problems.String()
}

func (c cli) must(args ...string) string {
	c.t.Helper()
	status, out, problems := c.run("", args...)
	if status != 0 {
		c.t.Fatalf("cardwall %v: %s", args, problems)
	}
	return out
}

func TestAccountsFromTheCommandLine(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	if id := c.must("user", "add", "--email", "Ada@Example.com", "--name", "Ada"); !strings.HasPrefix(id, "usr_") {
		t.Errorf("user add printed %q; want the prefix %q", id, "usr_")
	}
	workspace := c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
	if !regexp.MustCompile(`^wsp_[0-9a-hjkmnp-tv-z]{26}$`).MatchString(workspace) {
		t.Errorf("workspace add printed %q", workspace)
	}
	token := c.must("token", "add", "--user", "ada@example.com", "--name", "x", "--scopes", "write", "--workspace",
		workspace, "--expires-in", "1h")
	if !regexp.MustCompile(`^cwl_[0-9A-Za-z]{36}$`).MatchString(token) {
		t.Errorf("token add printed %q", token)
	}
	if list := c.must("token", "list", "--user", "ada@example.com"); !strings.Contains(list, "…"+token[len(token)-4:]) ||
		strings.Contains(list, token) {
		t.Errorf("token list printed %q", list)
	}
	org := strings.Fields(c.must("org", "list"))[0]
	c.must("org", "plan", org, "free")
	c.must("org", "read-only", org, "on")
	if list := c.must("org", "list"); !strings.Contains(list, "free") || !strings.Contains(list, "read-only") {
		t.Errorf("org list printed %q", list)
	}
	if got := c.must("doctor"); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
	info, err := os.Stat(c.data + "/cardwall.db")
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the data file can be read by others: %v %v", info.Mode(), err)
	}
}

// The setting for new organizations applies to the demo and to workspace add.
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
			t.Errorf("%s is not on the plan %s:\n%s", name, plan, list)
		}
	}
	if status, _, problems := c.run("", "org", "list", "--plan", "gold"); status == 0 ||
		!strings.Contains(problems, "free") {
		t.Errorf("an unknown plan was accepted: %s", problems)
	}
}

func TestBadInputOnTheCommandLine(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	for _, bad := range []struct {
		says string
		args []string
	}{
		{"email is taken", []string{"user", "add", "--email", "ADA@example.com", "--name", "Other"}},
		{"email must be", []string{"user", "add", "--email", "ada", "--name", "Ada"}},
		{"name must not be empty", []string{"user", "add", "--email", "b@example.com", "--name", " "}},
		{"timeZone must be", []string{"user", "add", "--email", "b@example.com", "--name", "B", "--time-zone", "Local"}},
		{"no account with the email address", []string{"token", "add", "--user", "nobody@example.com", "--name", "x"}},
		{"not a scope", []string{"token", "add", "--user", "ada@example.com", "--name", "x", "--scopes", "root"}},
		{"is not a member of a workspace",
			[]string{"token", "add", "--user", "ada@example.com", "--name", "x", "--workspace", "wsp_0"}},
		{"no organization", []string{"org", "plan", "org_0", "team"}},
		{"must be one of", []string{"org", "plan", "org_0", "gold"}},
		{"no active token", []string{"token", "revoke", "tok_0"}},
		{"--database must be", []string{"doctor", "--database", "mysql://x"}},
		{"unexpected argument", []string{"fly"}},
	} {
		status, out, problems := c.run("", bad.args...)
		line := problems[strings.LastIndex(strings.TrimSuffix(problems, "\n"), "\n")+1:]
		if status == 0 || !strings.Contains(line, bad.says) || out != "" && !strings.HasPrefix(out, "Usage") {
			t.Errorf("cardwall %v: status %d, printed %q and %q; want one line with %q", bad.args, status, out, line, bad.says)
		}
	}
	if status, _, problems := c.run("short\n", "user", "add", "--email", "c@example.com", "--name", "C",
		"--password-stdin"); status == 0 || !strings.Contains(problems, "password must have") {
		t.Errorf("a short password: status %d, %q", status, problems)
	}
}

func TestDemoCanRunAgain(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	first, second := c.must("demo"), c.must("demo")
	token := regexp.MustCompile(`cwl_[0-9A-Za-z]{36}`)
	if token.FindString(first) == "" || token.FindString(first) == token.FindString(second) {
		t.Errorf("the demo printed\n%s\nand then\n%s", first, second)
	}
	board := regexp.MustCompile(`brd_\w+`)
	if board.FindString(first) != board.FindString(second) {
		t.Error("the second demo created another board")
	}
	c.must("doctor")
}
