package conformance

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func addPrompts(s *mcp.Server) {
	add := func(name string, arguments []string, content func(arguments map[string]string) []mcp.Content) {
		p := &mcp.Prompt{Name: name, Description: "A fixture of the conformance suite."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "Any text.", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return messages(content(r.Params.Arguments)...), nil
		})
	}
	add("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(arguments map[string]string) []mcp.Content {
		return []mcp.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", arguments["arg1"], arguments["arg2"]))}
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(arguments map[string]string) []mcp.Content {
		return []mcp.Content{embedded(arguments["resourceUri"]), text("Please process the embedded resource above.")}
	})
	add("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{image(), text("Please analyze the image above.")}
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture of the conformance suite."},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			requests, responses := open([]question{userContext}, r.Params.InputResponses)
			if len(requests) > 0 {
				return &mcp.GetPromptResult{InputRequests: requests}, nil
			}
			return messages(text("You said: " + responses)), nil
		})
}

func messages(contents ...mcp.Content) *mcp.GetPromptResult {
	out := &mcp.GetPromptResult{Description: "A fixture of the conformance suite."}
	for _, c := range contents {
		out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return out
}
