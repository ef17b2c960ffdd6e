// Command clientgen reads the OpenAPI document into a model for the generation of API clients. It
// fails if the document contains a construct that it does not know.
//
//	clientgen DOCUMENT
package main

import (
	"fmt"
	"os"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err == nil {
		_, err = parse(data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clientgen:", err)
		os.Exit(1)
	}
}
