package rest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/op"
)

// uploadHeaders describes the headers of responses about uploads.
func uploadHeaders() map[string]*huma.Header {
	return map[string]*huma.Header{
		uploadOffset: numberHeader("The number of bytes that the server has stored.", 16777216),
		uploadLength: numberHeader("The size of the file in bytes.", 48211160),
		uploadExpiry: textHeader("When the upload ends, as an HTTP date.", "Tue, 03 Mar 2026 09:00:00 GMT"),
		tusResumable: textHeader("The version of tus that the server supports.", tusVersion),
		"Location":   textHeader("The path of the upload.", Prefix+uploadPath+"/upl_01jb2m3n4p5q6r7s8t9v0w1x2y"),
	}
}

// describeUpload adds what is special about an operation on uploads to its description.
func describeUpload(doc *huma.OpenAPI, entry *huma.Operation, o *op.Operation) {
	maps.Copy(doc.Components.Headers, uploadHeaders())
	status := http.StatusOK
	names := []string{tusResumable, uploadOffset, uploadLength, uploadExpiry}
	switch {
	case o.Creates:
		status = http.StatusCreated
		names = append(names, "Location")
	case o.TakesPart():
		status = http.StatusNoContent
		describePart(entry)
	case o.Method == http.MethodDelete:
		names = names[:1]
	}
	maps.Copy(entry.Responses[strconv.Itoa(status)].Headers, headerRefs(names...))
}

// describePart describes the request and the response of append_upload.
func describePart(entry *huma.Operation) {
	entry.Parameters = append(entry.Parameters, &huma.Param{
		Name: uploadOffset, In: "header", Required: true,
		Schema:      &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0), Examples: []any{16777216}},
		Description: "The number of bytes before this part. If it is not the number that the server has stored, the status is 409.",
	})
	entry.RequestBody = &huma.RequestBody{
		Required: true, Description: "The next bytes of the file.",
		Content: map[string]*huma.MediaType{op.PartMedia: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
	delete(entry.Responses, strconv.Itoa(http.StatusOK))
	entry.Responses[strconv.Itoa(http.StatusNoContent)] = &huma.Response{
		Description: "The part is stored. If Upload-Offset is the size of the file, the file is attached.",
		Headers:     headerRefs("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Resource"),
	}
}

// exposedHeaders lists the headers that pages on other sites may read.
func exposedHeaders() []string {
	names := slices.Sorted(maps.Keys(headers()))
	names = append(names, slices.Sorted(maps.Keys(uploadHeaders()))...)
	return append(names, "Etag", "Tus-Version", "Tus-Extension")
}
