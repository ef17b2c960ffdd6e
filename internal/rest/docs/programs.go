package docs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A program is an example in a language. A test in internal/app runs all programs of the
// reference page.
type program struct{ Language, Text string }

// languages lists the languages of the examples in the order in which the page offers them.
var languages = []string{"curl", "TypeScript", "Python", "Go"}

// snippets returns the calls of each operation with the clients. tools/clientgen generates them.
func snippets() (map[string][]program, error) {
	text, err := files.ReadFile("snippets.json")
	if err != nil {
		return nil, err
	}
	var all map[string]struct{ TypeScript, Python, Go string }
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read snippets.json: %w", err)
	}
	out := map[string][]program{}
	for name, s := range all {
		out[name] = []program{{"TypeScript", s.TypeScript}, {"Python", s.Python}, {"Go", s.Go}}
	}
	return out, nil
}

// Languages returns the languages of the examples.
func (v *view) Languages() []string { return languages }

// FirstPrograms returns a program in each language that makes the first call.
func (v *view) FirstPrograms() []program {
	out := []program{{"curl", "curl " + quote(v.Address+"/me") + " \\\n  " + tokenHeader}}
	for i, text := range []string{firstTypeScript, firstPython, firstGo} {
		server := strings.TrimSuffix(v.Address, home)
		out = append(out, program{languages[i+1], strings.ReplaceAll(text, "SERVER", server)})
	}
	return out
}

const (
	firstTypeScript = `import { Client } from '@cardwall/client'

const token = process.env.CARDWALL_TOKEN ?? ''
const client = new Client('SERVER', token)

const { data: me } = await client.GET('/me')
console.log(me.name)`

	firstPython = `import os

from cardwall import Client

client = Client("SERVER", os.environ["CARDWALL_TOKEN"])

me = client.get_me()["data"]
print(me["name"])`

	firstGo = `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"cardwall/clients/go"
)

func main() {
	ctx := context.Background()
	client, err := cardwall.New("SERVER", os.Getenv("CARDWALL_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	me, err := client.GetMe(ctx, cardwall.GetMeParams{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(me.Data.Name)
}`
)
