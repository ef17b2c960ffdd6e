// Package generators pins the versions of the packages that the output of
// oapi-codegen imports. tools/generators/check compiles this output.
package generators

import (
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/labstack/echo/v4"
	_ "github.com/oapi-codegen/runtime"
)
