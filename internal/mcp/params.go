package mcp

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"cardwall/internal/op"
)

// params are the parameters of all methods that the SDK decodes.
type params struct {
	Meta      map[string]jsontext.Value `json:"_meta"`
	Name      string                    `json:"name"`
	Arguments map[string]jsontext.Value `json:"arguments"`
	URI       string                    `json:"uri"`
	Cursor    string                    `json:"cursor"`
	Ref       struct {
		Type string `json:"type"`
		Name string `json:"name"`
		URI  string `json:"uri"`
	} `json:"ref"`
	Argument struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"argument"`
	Context struct {
		Arguments map[string]string `json:"arguments"`
	} `json:"context"`
	Version      string                    `json:"protocolVersion"`
	Capabilities map[string]jsontext.Value `json:"capabilities"`
	Client       struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
}

// invalidParams returns an error that replaces the SDK's response to a request whose
// params the SDK could not decode. The SDK quotes the params and names Go types, and
// does not always set a code. For any other response, invalidParams returns nil.
func invalidParams(body, response []byte) *rpcError {
	if !bytes.Contains(response, []byte(`"error":{"code":`)) {
		return nil
	}
	var sent struct {
		Error *struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(response, &sent); err != nil || sent.Error == nil {
		return nil
	}
	out := &rpcError{code: jsonrpc.CodeInvalidParams}
	switch text := sent.Error.Message; {
	case text == "invalid params": // the SDK's only words for a cursor
		out.message = "Invalid params: params.cursor must be a nextCursor that this server returned."
	case sent.Error.Code == 0 || sent.Error.Code == jsonrpc.CodeInvalidParams && strings.Contains(text, "unmarshaling"):
		out.message = "Invalid params: " + wrongParam(body) + "."
	default:
		return nil
	}
	return out
}

// wrongParam says what is wrong with the params of a request.
func wrongParam(body []byte) string {
	var request struct {
		Params *params `json:"params"`
	}
	var semantic *json.SemanticError
	err := json.Unmarshal(body, &request)
	switch {
	case errors.As(err, &semantic) && semantic.GoType != nil:
		kind := "an object"
		if semantic.GoType.Kind() == reflect.String {
			kind = "a string"
		}
		return op.Quoted(strings.Join(slices.Collect(semantic.JSONPointer.Tokens()), ".")) + " must be " + kind
	case request.Params == nil:
		return "params is required"
	case request.Params.Ref.Type != "":
		return "params.ref.type must be ref/prompt or ref/resource"
	}
	return "params does not have the form that the protocol defines for the method"
}
