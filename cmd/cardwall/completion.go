package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints the code with which a shell completes commands.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return "Prints code for the shell. To use it, add a line to the file that the shell reads when it starts:\n\n" +
		"  ~/.bashrc                   source <(cardwall completion bash)\n" +
		"  ~/.zshrc, after compinit    source <(cardwall completion zsh)\n" +
		"  ~/.config/fish/config.fish  cardwall completion fish | source"
}

// completionCode asks the program for candidates. It passes the words up to the one to complete.
var completionCode = map[string]string{
	"bash": `_cardwall() {
	local IFS=$'\n'
	COMPREPLY=($(cardwall complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _cardwall cardwall`,
	"zsh": `_cardwall() {
	local -a candidates
	candidates=("${(@f)$(cardwall complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	[[ -n "$candidates" ]] && compadd -a candidates || _files
}
compdef _cardwall cardwall`,
	"fish": `function __cardwall
	set --local words (commandline --tokenize --cut-at-cursor --current-process)
	cardwall complete -- $words[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command cardwall --arguments '(__cardwall)'`,
}

func (c completionCommand) Run(g *globals) error {
	g.print("%s", completionCode[c.Shell])
	return nil
}

// completeCommand prints the candidates for the last word of a command line. The code of
// completionCommand calls it.
type completeCommand struct {
	Words []string `arg:"" optional:""`
}

func (c completeCommand) Run(g *globals, k *kong.Kong) error {
	for _, candidate := range candidates(k.Model, c.Words) {
		g.print("%s", candidate)
	}
	return nil
}

// candidates returns the commands, flags or values that can be the last word.
func candidates(app *kong.Application, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	command := app.Node
	var valueOf *kong.Flag // of which the next word is the value
	for _, word := range words[:last] {
		name, isFlag := strings.CutPrefix(word, "--")
		switch {
		case valueOf != nil:
			valueOf = nil
		case isFlag:
			for _, f := range flagsOf(app, command) {
				if f.Name == name && !f.IsBool() {
					valueOf = f
				}
			}
		default:
			if i := slices.IndexFunc(command.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
				command = command.Children[i]
			}
		}
	}
	var out []string
	switch {
	case valueOf != nil:
		out = strings.Split(valueOf.Enum, ",")
	case strings.HasPrefix(words[last], "-"):
		for _, f := range flagsOf(app, command) {
			out = append(out, "--"+f.Name)
		}
	default:
		for _, child := range command.Children {
			if !child.Hidden {
				out = append(out, child.Name)
			}
		}
		for _, argument := range command.Positional {
			out = append(out, strings.Split(argument.Enum, ",")...)
		}
	}
	out = slices.DeleteFunc(out, func(text string) bool { return text == "" || !strings.HasPrefix(text, words[last]) })
	slices.Sort(out)
	return out
}

// flagsOf returns the flags that a command uses.
func flagsOf(app *kong.Application, command *kong.Node) []*kong.Flag {
	var flags []*kong.Flag
	for _, f := range app.Flags {
		if uses(command, f) {
			flags = append(flags, f)
		}
	}
	if command != app.Node {
		flags = append(flags, command.Flags...)
	}
	return flags
}
