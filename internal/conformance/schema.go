package conformance

import "github.com/go-json-experiment/json/jsontext"

// rawSchema is a schema that is sent unchanged.
type rawSchema string

// MarshalJSON returns the text of the schema.
func (s rawSchema) MarshalJSON() ([]byte, error) { return jsontext.Value(s), nil }

const noInput = `{"type":"object"}`

// schemaWithAllKeywords contains the JSON Schema 2020-12 keywords that a server must send to a
// client unchanged.
const schemaWithAllKeywords = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// schemaWithHeader has a field that the client also sends in a header.
const schemaWithHeader = `{
	"type": "object",
	"properties": {
		"region": {"type": "string", "x-mcp-header": "Region"},
		"level": {"type": "integer"}
	}
}`
