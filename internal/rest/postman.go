package rest

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/op"
)

// collection is a Postman collection (format 2.1.0).
type collection struct {
	Info struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Schema      string `json:"schema"`
	} `json:"info"`
	Auth struct {
		Type   string         `json:"type"`
		Bearer []postmanValue `json:"bearer"`
	} `json:"auth"`
	Variables []postmanValue  `json:"variable"`
	Folders   []postmanFolder `json:"item"`
}

type postmanFolder struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Requests    []postmanRequest `json:"item"`
}

type postmanRequest struct {
	Name    string `json:"name"`
	Request struct {
		Method      string         `json:"method"`
		Description string         `json:"description"`
		Header      []postmanValue `json:"header,omitempty"`
		URL         postmanURL     `json:"url"`
		Body        *postmanBody   `json:"body,omitempty"`
	} `json:"request"`
}

type postmanURL struct {
	Raw       string         `json:"raw"`
	Host      []string       `json:"host"`
	Path      []string       `json:"path"`
	Query     []postmanValue `json:"query,omitempty"`
	Variables []postmanValue `json:"variable,omitempty"`
}

// postmanValue is a variable, a parameter or a header. Disabled ones are not sent.
type postmanValue struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Type        string `json:"type,omitzero"`
	Description string `json:"description,omitzero"`
	Disabled    bool   `json:"disabled,omitzero"`
}

type postmanBody struct {
	Mode    string `json:"mode"`
	Raw     string `json:"raw,omitzero"`
	Options any    `json:"options,omitempty"`
}

// Postman returns the public API as a Postman collection in JSON. Its variables are baseUrl and token.
func Postman(r *op.Registry, version, baseURL string) ([]byte, error) {
	var c collection
	c.Info.Name, c.Info.Description, c.Info.Version = "Cardwall", introduction, version
	c.Info.Schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
	c.Auth.Type, c.Auth.Bearer = "bearer", []postmanValue{{Key: "token", Value: "{{token}}", Type: "string"}}
	c.Variables = []postmanValue{{Key: "baseUrl", Value: baseURL + Prefix}, {Key: "token", Description: "A personal API token."}}
	calls := examples()
	for _, area := range r.Areas {
		folder := postmanFolder{Name: area.Name, Description: area.Description}
		for _, o := range r.All() {
			if o.Area == area.Name && o.Audience == op.Public {
				folder.Requests = append(folder.Requests, inPostman(o, calls[o.Name].Request))
			}
		}
		if len(folder.Requests) > 0 {
			c.Folders = append(c.Folders, folder)
		}
	}
	text, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode the Postman collection: %w", err)
	}
	return text, nil
}

// inPostman returns an operation as a request. Parameters that the operation does not require are disabled.
func inPostman(o *op.Operation, body jsontext.Value) (p postmanRequest) {
	p.Name, p.Request.Method, p.Request.Description = o.Name, o.Method, o.Description
	path := strings.NewReplacer("{", ":", "}", "").Replace(o.Path)
	url := postmanURL{Raw: "{{baseUrl}}" + path, Host: []string{"{{baseUrl}}"}, Path: strings.Split(path[1:], "/")}
	for _, parameter := range parameters(o) {
		v := postmanValue{Key: parameter.Name, Description: parameter.Description, Disabled: !parameter.Required}
		if parameter.Name == "Idempotency-Key" {
			v.Value, v.Disabled = "{{$guid}}", false // another one for each request
		}
		switch op.Location(parameter.In) {
		case op.InPath:
			url.Variables = append(url.Variables, v)
		case op.InQuery:
			if examples := parameter.Schema.Examples; len(examples) > 0 {
				v.Value = fmt.Sprint(examples[0])
			}
			url.Query = append(url.Query, v)
		default:
			p.Request.Header = append(p.Request.Header, v)
		}
	}
	p.Request.URL = url
	switch {
	case o.TakesPicture(), o.TakesPart():
		p.Request.Body = &postmanBody{Mode: "file"}
	case body != nil:
		text := body.Clone()
		if text.Indent() == nil {
			p.Request.Body = &postmanBody{
				Mode: "raw", Raw: string(text), Options: map[string]any{"raw": map[string]any{"language": "json"}},
			}
		}
	}
	return p
}
