// Command clientgen generates the parts of the API clients that follow from the OpenAPI document:
// the types of all records, a method for each operation, and an example of its call. It guarantees the same output for the
// same document, and fails if the document contains a construct that it does not know.
//
//	clientgen [-root FOLDER]
//
// The files are listed in outputs. A test compares them with what clientgen generates.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// documentPath is the path of the OpenAPI document in the repository.
const documentPath = "internal/rest/testdata/openapi.json"

// outputs maps the path of each generated file to the function that writes its content.
var outputs = map[string]func(*api) ([]byte, error){
	"clients/go/models.go":                      goModels,
	"clients/go/operations.go":                  goOperations,
	"clients/python/src/cardwall/models.py":     pythonModels,
	"clients/python/src/cardwall/operations.py": pythonOperations,
	"internal/rest/docs/snippets.json":          snippets,
}

func main() {
	root := flag.String("root", ".", "the `folder` of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "clientgen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for path, content := range files {
		if err := os.WriteFile(filepath.Join(root, path), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the content of all outputs.
func generate(root string) (map[string][]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, documentPath))
	if err != nil {
		return nil, err
	}
	a, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", documentPath, err)
	}
	files := map[string][]byte{}
	for path, write := range outputs {
		if files[path], err = write(a); err != nil {
			return nil, fmt.Errorf("generate %s: %w", path, err)
		}
	}
	return files, nil
}
