package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletionCandidates(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"ca":                                 "cards",
		"cards ":                             "create list move",
		"cards m":                            "move",
		"cards move --p":                     "--position",
		"cards move --position ":             "bottom top",
		"cards move crd_1 --position t":      "top",
		"cards move --list --position --bas": "--base-url", // the name of the list is --position
		"cards move --json --b":              "--base-url --board",
		"cards move ":                        "",
		"completion ":                        "bash fish zsh",
		"serve --max-ca":                     "--max-cards",
		"login --scopes ":                    "admin read write",
		"backup --data ":                     "", // the shell offers files
		"nonsense --max-ca":                  "--max-cards",
	} {
		words := strings.Split(line, " ")
		var out bytes.Buffer
		status := run(append([]string{"complete", "--"}, words...), strings.NewReader(""), &out, &out)
		if got := strings.Join(strings.Fields(out.String()), " "); status != 0 || got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// The code for each shell that is installed completes a command.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	binary := program(t)
	folder := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(folder, "cardwall")); err != nil {
		t.Fatal(err)
	}
	tested := 0
	for shell, script := range map[string]string{
		"bash": `source <(cardwall completion bash); COMP_WORDS=(cardwall cards mo); COMP_CWORD=2; _cardwall; echo "${COMPREPLY[@]}"`,
		"fish": `cardwall completion fish | source; complete --do-complete 'cardwall cards mo'`,
		"zsh": `compdef() { :; }; compadd() { echo $candidates; }; source <(cardwall completion zsh)
			words=(cardwall cards mo) CURRENT=3; _cardwall`,
	} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		tested++
		c := exec.CommandContext(t.Context(), shell, "-c", script)
		c.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
		if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "move" {
			t.Errorf("%s: got %q, error %v; want move", shell, out, err)
		}
	}
	if tested == 0 {
		t.Skip("neither bash, zsh nor fish is installed")
	}
}
