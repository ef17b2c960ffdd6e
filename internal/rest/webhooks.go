package rest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/op"
)

// The names of the schemas of a delivery's body: of any kind, and of the fields that all kinds have.
const (
	anyEvent  = "WebhookEvent"
	baseEvent = "WebhookEventFields"
)

// dataSchema returns the schema of an operation's data. An event has the schema of its kind, so that
// generators do not omit these schemas.
func dataSchema(r *op.Registry, o *op.Operation) *huma.Schema {
	if len(r.Events) > 0 && reflect.TypeOf(r.Events[0].Sample) == o.Output {
		return &huma.Schema{Ref: op.SchemaPrefix + anyEvent}
	}
	return r.Schema(o)
}

// addWebhooks adds the webhooks section to the document (OpenAPI 3.1, 4.8.1). It has one entry for each event
// kind, with the body and an example. Their headers are no components, because oapi-codegen omits components
// that only webhooks use.
func addWebhooks(doc *huma.OpenAPI, r *op.Registry) {
	if len(r.Events) == 0 {
		return
	}
	doc.Webhooks = map[string]*huma.PathItem{}
	union := &huma.Schema{
		Description:   "The body of a delivery. Its type determines the fields of data.",
		Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}},
	}
	r.Schemas.Map()[anyEvent] = union
	for _, e := range r.Events {
		name := eventName(e.Kind)
		r.Schemas.Map()[name] = eventSchema(r, e)
		union.OneOf = append(union.OneOf, &huma.Schema{Ref: op.SchemaPrefix + name})
		union.Discriminator.Mapping[e.Kind] = op.SchemaPrefix + name
		doc.Webhooks[e.Kind] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "on_" + strings.ReplaceAll(e.Kind, ".", "_"), Tags: []string{e.Area}, Summary: strings.TrimSuffix(e.Text, "."),
			Description: e.Text + " Sent to the webhooks that cover the board and subscribe to this kind. A 2xx status within " +
				"ten seconds is a success. Failed connections, timeouts, 429 and 5xx are retried; other responses are not.",
			Security:   []map[string][]string{{}},
			Parameters: eventHeaders(),
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				op.JSON: {Schema: &huma.Schema{Ref: op.SchemaPrefix + name}, Example: e.Sample},
			}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: "Accepted."},
				"4XX": {Description: "Rejected. Only 429 is retried. 410 disables the webhook."},
				"5XX": {Description: "Failed. Retried after 30 seconds, 2 minutes and so on, for about a day."},
			},
		}}
	}
}

// eventName returns the name of the schema for an event kind, such as
// CardCreatedEvent for card.created.
func eventName(kind string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(kind, func(c rune) bool { return c == '.' || c == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Event"
}

// eventSchema returns the schema of a delivery's body for one event kind: the fields of every delivery, which
// share a component, with the type and the data of the kind.
func eventSchema(r *op.Registry, e op.Event) *huma.Schema {
	s := *r.Body(e)
	kind, data, about := *s.Properties["type"], *r.Data(e), s.Properties["data"].Description
	kind.Description, kind.Enum, kind.Examples = "The kind of event.", []any{e.Kind}, nil
	data.Description, data.AdditionalProperties = about, nil // so that new fields do not require a new format
	s.Description, s.AdditionalProperties = "The fields of every delivery.", nil
	s.Properties = maps.Clone(s.Properties)
	maps.DeleteFunc(s.Properties, func(name string, _ *huma.Schema) bool { return name == "type" || name == "data" })
	s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool { return s.Properties[name] == nil })
	return &huma.Schema{
		Description: e.Text,
		AllOf: []*huma.Schema{component(r, baseEvent, &s), {
			Type: huma.TypeObject, Required: []string{"type", "data"},
			Properties: map[string]*huma.Schema{"type": &kind, "data": &data},
		}},
	}
}

// eventHeaders returns the headers of every delivery (Standard Webhooks).
func eventHeaders() []*huma.Param {
	header := func(name, text string, schema *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: text, Schema: schema}
	}
	return []*huma.Param{
		header("webhook-id", "Id of the delivery, as in the body. It is the same for every attempt.",
			&huma.Schema{Type: huma.TypeString, Examples: []any{"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"}}),
		header("webhook-timestamp", "Time of this attempt in Unix seconds. Reject deliveries whose "+
			"timestamp is more than 300 seconds from the current time.",
			&huma.Schema{Type: huma.TypeInteger, Examples: []any{1772460000}}),
		header("webhook-signature", "`v1,` and the base64-encoded HMAC-SHA256 of id, timestamp and "+
			"body, joined by periods. For 24 hours after a rotation there are two signatures, separated by a space.",
			&huma.Schema{Type: huma.TypeString, Examples: []any{"v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="}}),
		header("User-Agent", "Identical for all deliveries.",
			&huma.Schema{Type: huma.TypeString, Examples: []any{"Service-Webhooks/1.0"}}),
	}
}
