package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func addResources(s *mcp.Server) {
	add := func(uri, mime string, read func(uri string) *mcp.ResourceContents) {
		s.AddResource(&mcp.Resource{URI: uri, Name: uri, MIMEType: mime}, reader(read))
	}
	add("test://static-text", "text/plain", plain("This is the content of the static text resource."))
	add("test://watched-resource", "text/plain", plain("This resource never changes."))
	add("test://static-binary", "image/png", func(uri string) *mcp.ResourceContents {
		return &mcp.ResourceContents{URI: uri, MIMEType: "image/png", Blob: pixel()}
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "text/plain"},
		reader(func(uri string) *mcp.ResourceContents {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
			return plain(fmt.Sprintf("Data of %q.", id))(uri)
		}))
}

func plain(s string) func(uri string) *mcp.ResourceContents {
	return func(uri string) *mcp.ResourceContents {
		return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: s}
	}
}

func reader(read func(uri string) *mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{read(r.Params.URI)}}, nil
	}
}
