// Command sbom writes the software bill of materials (CycloneDX) of a release: the Go modules
// of a binary, and the npm packages of its pages, taken from npm's bill of materials.
//
//	sbom BINARY NPM-BILL VERSION
package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY NPM-BILL VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(to io.Writer, binary, npmBill, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the build of %s: %w", binary, err)
	}
	file, err := os.Open(npmBill)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // error irrelevant after reading
	var npm cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&npm); err != nil {
		return fmt.Errorf("read the bill of npm: %w", err)
	}
	components := []cdx.Component{module("std", info.GoVersion)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, module(m.Path, m.Version))
	}
	if npm.Components != nil {
		components = append(components, *npm.Components...)
	}
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "cardwall", Type: cdx.ComponentTypeApplication, Name: "cardwall", Version: version,
		PackageURL: "pkg:generic/cardwall@" + version,
	}}
	bill.Components = &components
	return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
}

// module returns the component of a Go module.
func module(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}
