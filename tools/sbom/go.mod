// A module of its own, so that the tools of the program need nothing from outside.
module cardwall/tools/sbom

go 1.26.0

require github.com/CycloneDX/cyclonedx-go v0.12.0
