package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// HeaderInput is a header of a webhook in an input.
type HeaderInput struct {
	Name  string  `json:"name" minLength:"1" maxLength:"64" doc:"The name, such as Authorization. Names that Cardwall or HTTP itself uses are not allowed." example:"Authorization"`
	Value *string `json:"value,omitempty" maxLength:"1024" doc:"The value: visible ASCII characters and spaces. update_webhook keeps the present value if it is left out, as long as the URL's scheme, host and port stay the same." example:"Bearer 3f9c"`
}

// headersInput holds the headers of a webhook. Absent headers stay unchanged.
type headersInput struct {
	Headers []HeaderInput `json:"headers,omitempty" maxItems:"5" doc:"Headers to send with each delivery; they replace all present ones. Their values are stored encrypted and never returned." example:"[{\"name\":\"Authorization\",\"value\":\"Bearer 3f9c\"}]"`
}

// headerValueRule explains when an update may omit a value.
const headerValueRule = "A value can be left out only for a header that the webhook already has, and only while the scheme, host " +
	"and port of its URL stay the same."

// setHeaders stores the headers of a webhook. Address is its new URL, or "" if the URL does
// not change. It returns an invalid_request error if a header is not allowed, or if its value
// is missing and the webhook has no value for the address. Values must not go to another
// receiver than the one for which they were given.
func (in headersInput) setHeaders(ctx context.Context, tx *store.Tx, w *board.Webhook, address string) error {
	var present []board.WebhookHeader
	if len(w.HeaderNames) > 0 {
		var err error
		if present, err = tx.WebhookHeaders(ctx, w.ID, address); err != nil {
			return err
		}
	}
	if in.Headers == nil {
		if address != "" && len(present) < len(w.HeaderNames) {
			return board.Invalid("headers is required with this url, because its scheme, host or port changes: give the values "+
				"again, or an empty array to remove the headers (%s).", strings.Join(w.HeaderNames, ", ")).
				In("headers", board.RuleRequired)
		}
		return nil
	}
	headers := make([]board.WebhookHeader, len(in.Headers))
	for i, h := range in.Headers {
		field := fmt.Sprintf("headers[%d].", i)
		if err := board.CheckHeaderName(field+"name", h.Name); err != nil {
			return err
		}
		same := func(other board.WebhookHeader) bool { return strings.EqualFold(other.Name, h.Name) }
		if slices.ContainsFunc(headers[:i], same) {
			return board.Invalid("%sname: the header is given twice. Case does not matter.", field).
				In(field+"name", board.RuleValue)
		}
		headers[i].Name = h.Name
		if h.Value == nil {
			found := slices.IndexFunc(present, same)
			if found < 0 {
				return board.Invalid("%svalue is required. "+headerValueRule, field).In(field+"value", board.RuleRequired)
			}
			headers[i].Value = present[found].Value
			continue
		}
		if err := board.CheckHeaderValue(field+"value", *h.Value); err != nil {
			return err
		}
		headers[i].Value = *h.Value
	}
	if len(headers) == 0 && len(w.HeaderNames) == 0 {
		return nil
	}
	return tx.SetWebhookHeaders(ctx, w, address, headers)
}

// valuesGiven returns the names of the headers whose values the input contains.
func (in headersInput) valuesGiven() (names []string) {
	for _, h := range in.Headers {
		if h.Value != nil {
			names = append(names, h.Name)
		}
	}
	return names
}
