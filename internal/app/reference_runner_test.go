package app_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// runner runs programs by name.
type runner struct{ run func(name string) error }

// The folders of the clients.
const (
	typeScriptClient = "../../clients/typescript"
	pythonClient     = "../../clients/python/src"
	goClient         = "../../clients/go"
)

// command returns a command with the token of the examples.
func command(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath(args[0]); err != nil {
		t.Skipf("%s is not installed", args[0])
	}
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Dir, c.Env = dir, slices.Concat(os.Environ(), []string{"CARDWALL_TOKEN=secret"}, env)
	return c
}

// must runs a command and fails the test if it fails.
func must(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c.Args[0], err, out)
	}
}

func startCurl(t *testing.T, dir string, programs map[string]string) *runner {
	return &runner{func(name string) error {
		out, err := command(t, dir, nil, "sh", "-c", programs[name]).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}}
}

// startLoop starts a command that reads names of programs. After each program, it writes a line to its
// standard error: ok or an error.
func startLoop(t *testing.T, c *exec.Cmd) *runner {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // ends the loop
		_ = c.Wait()
	})
	lines := bufio.NewReader(out)
	return &runner{func(name string) error {
		if _, err := io.WriteString(in, name+"\n"); err != nil {
			return err
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("the program has ended: %s %w", line, err)
		}
		if line != "ok\n" {
			return errors.New(strings.TrimSpace(line))
		}
		return nil
	}}
}

// startTypeScript compiles the programs, which checks their types, and starts node.
func startTypeScript(t *testing.T, dir string, programs map[string]string) *runner {
	client, err := filepath.Abs(typeScriptClient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(client, "dist/index.js")); err != nil {
		t.Skip("the client is not built; run make test-typescript")
	}
	for _, link := range [][2]string{{client, "@cardwall/client"}, {filepath.Join(client, "node_modules/@types"), "@types"}} {
		path := filepath.Join(dir, "node_modules", link[1])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[0], path); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range programs {
		if name != firstProgram {
			text = "import { client } from './client.mjs'\n" + text
		}
		writeFile(t, filepath.Join(dir, name+".mts"), text+"\n")
	}
	create, _, _ := strings.Cut(programs[firstProgram], "\n\nconst { data")
	writeFile(t, filepath.Join(dir, "client.mts"), create+"\nexport { client }\n")
	writeFile(t, filepath.Join(dir, "tsconfig.json"), `{"compilerOptions": {"target": "ES2022", "module": "NodeNext",
		"lib": ["ES2023", "DOM", "DOM.AsyncIterable"], "types": ["node"], "strict": true, "skipLibCheck": true}}`)
	must(t, command(t, dir, nil, "node", filepath.Join(client, "node_modules/typescript/bin/tsc"), "-p", dir))
	writeFile(t, filepath.Join(dir, "loop.mjs"), `import { createInterface } from 'node:readline'
for await (const name of createInterface({ input: process.stdin })) {
  try {
    await import('./' + name + '.mjs')
    process.stderr.write('ok\n')
  } catch (error) {
    process.stderr.write(String(error).replaceAll('\n', ' ') + '\n')
  }
}
`)
	return startLoop(t, command(t, dir, nil, "node", "loop.mjs"))
}

func startPython(t *testing.T, dir string, programs map[string]string) *runner {
	client, err := filepath.Abs(pythonClient)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range programs {
		writeFile(t, filepath.Join(dir, name+".py"), text+"\n")
	}
	writeFile(t, filepath.Join(dir, "loop.py"), `import sys

variables = {}
with open("first.py") as first:
    exec(first.read().split("\n\nme = ")[0], variables)
for line in sys.stdin:
    name = line.strip()
    try:
        with open(name + ".py") as program:
            exec(compile(program.read(), name, "exec"), dict(variables))
        print("ok", file=sys.stderr, flush=True)
    except Exception as error:
        print(repr(error), file=sys.stderr, flush=True)
`)
	return startLoop(t, command(t, dir, []string{"PYTHONPATH=" + client}, "python3", "loop.py"))
}

// results matches the assignment of the results of a call in Go.
var results = regexp.MustCompile(`(?m)^(result(?:, job)?, )?err :?= client`)

// startGo compiles the programs into one command.
func startGo(t *testing.T, dir string, programs map[string]string) *runner {
	client, err := filepath.Abs(goClient)
	if err != nil {
		t.Fatal(err)
	}
	first := programs[firstProgram]
	create := first[strings.Index(first, "\tctx := "):strings.Index(first, "\tme, err :=")]
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"bufio\"\n\t\"context\"\n\t\"fmt\"\n\t\"log\"\n\t\"os\"\n\n\t\"cardwall/clients/go\"\n)\n\n" +
		"func main() {\n" + create + `	for names := bufio.NewScanner(os.Stdin); names.Scan(); {
		if err := programs[names.Text()](ctx, client); err != nil {
			fmt.Fprintf(os.Stderr, "%q\n", err)
		} else {
			fmt.Fprintln(os.Stderr, "ok")
		}
	}
}

var programs = map[string]func(ctx context.Context, client *cardwall.Client) error{
`)
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if name == firstProgram {
			continue
		}
		end := "return nil"
		if match := results.FindStringSubmatch(programs[name]); match != nil {
			end = "return err"
			if names := strings.TrimSuffix(match[1], ", "); names != "" {
				end = "_" + strings.Repeat(", _", strings.Count(names, ",")) + " = " + names + "\n" + end
			}
		}
		fmt.Fprintf(&b, "%q: func(ctx context.Context, client *cardwall.Client) error {\n%s\n%s\n},\n", name, programs[name], end)
	}
	b.WriteString("}\n")
	for path, text := range map[string]string{
		"go.mod": "module example.com/programs\n\ngo 1.24\n\nrequire cardwall/clients/go v0.0.0\n\n" +
			"replace cardwall/clients/go => " + client + "\n",
		"loop/main.go": b.String(), "first/main.go": first,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, path), text)
	}
	must(t, command(t, dir, []string{"GOFLAGS=-buildvcs=false -mod=mod"}, "go", "build", "-o", "bin/", "./loop", "./first"))
	loop := startLoop(t, command(t, dir, nil, filepath.Join(dir, "bin/loop")))
	return &runner{func(name string) error {
		if name != firstProgram {
			return loop.run(name)
		}
		return command(t, dir, nil, filepath.Join(dir, "bin/first")).Run()
	}}
}
