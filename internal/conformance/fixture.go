// Package conformance provides the tools, resources and prompts that the official conformance
// suite of the Model Context Protocol expects on a server. The suite defines the names of these
// fixtures, such as test_simple_text. The fixtures do not read or change boards.
//
// The fixtures are included only in a program that is built with the tag "conformance"; see
// cmd/cardwall. The suite describes the expected responses at
// https://github.com/modelcontextprotocol/conformance.
package conformance

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Register adds the fixtures to a server.
func Register(s *mcp.Server) {
	add := func(name, schema string, call mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: rawSchema(schema)}, call)
	}
	for _, f := range contents() {
		add(f.name, noInput, fixedResult(f.content...))
	}
	add("test_error_handling", noInput, fail)
	add("test_tool_with_progress", noInput, progress)
	add("test_tool_with_logging", noInput, log)
	add("test_logging_tool", noInput, log)
	add("test_streaming_elicitation", noInput, fixedResult(text("The response contains no request for input.")))
	add("test_missing_capability", noInput, needSampling)
	add("json_schema_2020_12_tool", schemaWithAllKeywords, fixedResult(text("The input is valid.")))
	add("test_x_mcp_header", schemaWithHeader, fixedResult(text("The header matches the input.")))
	states := newSealer()
	for name, call := range map[string]mcp.ToolHandler{
		"test_sampling":                              ask(samplingPrompt),
		"test_elicitation":                           ask(username),
		"test_elicitation_sep1034_defaults":          ask(defaults),
		"test_elicitation_sep1330_enums":             ask(enums),
		"test_input_required_result_elicitation":     ask(userName),
		"test_input_required_result_sampling":        ask(capital),
		"test_input_required_result_list_roots":      ask(roots),
		"test_input_required_result_multiple_inputs": states.ask(userName, capital, roots),
		"test_input_required_result_request_state":   states.ask(confirmation),
		"test_input_required_result_tampered_state":  states.ask(confirmation),
		"test_input_required_result_multi_round":     states.askInTurn(stepOne, stepTwo),
		"test_input_required_result_capabilities":    askSupported(userName, capital, roots),
	} {
		add(name, noInput, call)
	}
	addResources(s)
	addPrompts(s)
}

// newSealer returns a sealer with a new key, so that a server rejects state that it did not
// sign itself.
func newSealer() sealer {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return sealer{key}
}

// contents returns the names and results of tools that return a fixed result: one tool for each
// kind of content, and one that returns several kinds.
func contents() []struct {
	name    string
	content []mcp.Content
} {
	type fixture = struct {
		name    string
		content []mcp.Content
	}
	return []fixture{
		{"test_simple_text", []mcp.Content{text("This is a simple text response for testing.")}},
		{"test_image_content", []mcp.Content{image()}},
		{"test_audio_content", []mcp.Content{&mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"}}},
		{"test_embedded_resource", []mcp.Content{embedded("test://embedded-resource")}},
		{"test_multiple_content_types", []mcp.Content{text("Several kinds."), image(), embedded("test://mixed-content-resource")}},
	}
}

// fixedResult returns a tool that returns the given content.
func fixedResult(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func fail(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text("This tool intentionally returns an error for testing.")}}, nil
}

// pause is the time between two notifications.
const pause = 20 * time.Millisecond

func progress(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, done := range []float64{0, 50, 100} {
		if token := r.Params.GetProgressToken(); token != nil {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
				return nil, fmt.Errorf("send a progress notification: %w", err)
			}
		}
		time.Sleep(pause)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{text("Done.")}}, nil
}

func log(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		//lint:ignore SA1019 the 2025 revision includes logging, and the suite tests it
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, fmt.Errorf("send a log message: %w", err)
		}
		time.Sleep(pause)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{text("Done.")}}, nil
}

func text(s string) *mcp.TextContent { return &mcp.TextContent{Text: s} }

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource."}}
}

func image() *mcp.ImageContent { return &mcp.ImageContent{Data: pixel(), MIMEType: "image/png"} }

// pixel returns a PNG of one red pixel.
func pixel() []byte {
	return decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
}

// silence returns a WAV file of one sample.
func silence() []byte {
	return decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
}

func decoded(base string) []byte {
	data, err := base64.StdEncoding.DecodeString(base)
	if err != nil {
		panic(err) // cannot happen, because the arguments are constants
	}
	return data
}
