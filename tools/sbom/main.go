// Command sbom writes the software bill of materials (CycloneDX) for a release. It lists the Go
// modules in the binary and the npm packages in the bill of materials that npm has written.
//
//	sbom BINARY NPM-SBOM VERSION
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
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY NPM-SBOM VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the software bill of materials for a binary.
func write(w io.Writer, binary, npmSBOM, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the build information of %s: %w", binary, err)
	}
	file, err := os.Open(npmSBOM)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened only for reading
	var npm cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&npm); err != nil {
		return fmt.Errorf("read the npm SBOM: %w", err)
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
	sbom := cdx.NewBOM()
	sbom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "cardwall", Type: cdx.ComponentTypeApplication, Name: "cardwall", Version: version,
		PackageURL: "pkg:generic/cardwall@" + version,
	}}
	sbom.Components = &components
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(sbom)
}

// module returns the component that describes a Go module.
func module(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}
