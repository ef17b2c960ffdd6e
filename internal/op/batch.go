package op

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// BatchMode says what happens if one of the operations of a batch fails.
type BatchMode string

// The modes of a batch.
const (
	BatchAll  BatchMode = "all"  // nothing happens
	BatchEach BatchMode = "each" // the others are performed
)

// BatchInput is the input of a batch.
type BatchInput struct {
	Mode       BatchMode        `json:"mode,omitempty" enum:"all,each" doc:"all, the default: the operations change the same board, in one transaction. If one of them fails, nothing happens, and the error names it. each: the operations are performed one by one, and each has a result or an error of its own." example:"each"`
	Operations []BatchOperation `json:"operations" minItems:"1" maxItems:"100" doc:"The operations, in the order in which to perform them." example:"[{\"operation\":\"move_card\",\"input\":{\"cardId\":\"crd_01jb2m3n4p5q6r7s8t9v0w1x2y\",\"listId\":\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"}}]"`

	key   string // the idempotency key of the batch; empty for none
	parts []batchPart
}

// BatchOperation is a call of an operation in a batch.
type BatchOperation struct {
	Operation string         `json:"operation" maxLength:"64" doc:"The name of the operation, such as move_card. It is the operationId in the OpenAPI document." example:"move_card"`
	Input     map[string]any `json:"input,omitempty" doc:"The operation's parameters and the fields of its body, in one object." example:"{\"cardId\":\"crd_01jb2m3n4p5q6r7s8t9v0w1x2y\",\"listId\":\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"}"`
	IfMatch   string         `json:"ifMatch,omitempty" maxLength:"1024" doc:"The value of an If-Match header of the operation." example:"\"xq3vZ1b0cRkT8uWmYl5nDw7h\""`
}

// BatchOutput is the output of a batch.
type BatchOutput struct {
	Results []OperationResult `json:"results" doc:"The result of each operation, in the order of the request."`
}

// OperationResult is the result of an operation in a batch: what the body of the response to a request for the
// operation alone would contain.
type OperationResult struct {
	Data         any        `json:"data" doc:"The data of the operation's response; null if the operation failed."`
	BoardVersion *int64     `json:"boardVersion" doc:"The version of the board after the operation; null if no board was changed." example:"42"`
	Error        *ErrorBody `json:"error" doc:"Why the operation failed; null if it succeeded."`
}

// batchPart is an operation of a batch. If err is set, the call is invalid.
type batchPart struct {
	Part
	err error
}

// Batch registers an operation that performs several commands of the registry.
func Batch(r *Registry, name, route, text string, options ...Option) {
	Command(r, name, route, text, func(ctx context.Context, tx *store.Tx, in BatchInput) (BatchOutput, error) {
		if in.Mode == BatchEach {
			return BatchOutput{}, nil // Engine.each performs the operations
		}
		return in.all(ctx, tx)
	}, options...)
	r.Named(name).parts = func(in any) { in.(*BatchInput).split(r) }
}

// Batchable reports whether the operation can be part of a batch: whether it is a public command that
// runs in one short transaction, takes nothing but JSON, and checks no outbound URL.
func (o *Operation) Batchable() bool {
	if _, outbound := o.Input.New().(interface{ Outbound() string }); outbound {
		return false
	}
	return o.Audience == Public && o.command != nil && o.before == nil && o.parts == nil && !o.Recent && !o.Unkeyed &&
		!o.Starts() && !o.TakesFile() && !o.TakesPicture() && !o.TakesPart()
}

// Weight returns as how many requests the call counts.
func (c Call) Weight() int {
	var in struct {
		Operations []jsontext.Value `json:"operations"`
	}
	if c.Operation.parts == nil || json.Unmarshal(c.Arguments.Body, &in) != nil {
		return 1
	}
	return max(1, len(in.Operations))
}

// split decodes the operations of the batch.
func (in *BatchInput) split(r *Registry) {
	for _, o := range in.Operations {
		p, err := r.batchPart(o)
		in.parts = append(in.parts, batchPart{p, err})
	}
}

func (r *Registry) batchPart(o BatchOperation) (Part, error) {
	named := r.Named(o.Operation)
	if named == nil || !named.Batchable() {
		return Part{}, board.Invalid("%q is not an operation that can be part of a batch.", Quoted(o.Operation))
	}
	input, err := json.Marshal(o.Input)
	if err != nil {
		return Part{}, fmt.Errorf("encode the input of %s: %w", o.Operation, err)
	}
	p, err := r.Part(o.Operation, input)
	p.call.IfMatch, p.call.Arguments.Body = o.IfMatch, canonical(p.call.Arguments.Body)
	if err == nil {
		err = p.call.checkConditional()
	}
	return p, err
}

// refused returns the error of the first operation that is invalid.
func (in *BatchInput) refused() error {
	for i, p := range in.parts {
		if p.err != nil {
			return inBatch(i, p.err)
		}
	}
	return nil
}

// inBatch adds the index of an operation to its error.
func inBatch(i int, err error) error {
	place := fmt.Sprintf("operations[%d]", i)
	return board.Placed(place, place+".input", err)
}

// all performs the operations in the transaction, and stores their responses for the idempotency key.
func (in *BatchInput) all(ctx context.Context, tx *store.Tx) (out BatchOutput, err error) {
	for i, p := range in.parts {
		result, err := p.within(ctx, tx)
		if err == nil && !tx.OnOneBoard() {
			err = board.Invalid("In a batch with the mode all, all operations must change the same board.")
		}
		if err != nil {
			return out, inBatch(i, err)
		}
		out.Results = append(out.Results, result)
		if in.key == "" {
			continue
		}
		body, err := json.Marshal(result, encodeOptions)
		if err != nil {
			return out, fmt.Errorf("encode the response of %s: %w", p.call.Operation.Name, err)
		}
		sum := p.call.fingerprint(true)
		if err := tx.SavePart(ctx, in.key, i, p.call.Operation.Name, sum[:],
			store.StoredResponse{Body: body, Sealed: p.call.Operation.Secret}); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (p batchPart) within(ctx context.Context, tx *store.Tx) (r OperationResult, err error) {
	call := p.call
	call.Caller = tx.Caller()
	if err := call.checkVersion(ctx, tx, p.in); err != nil {
		return r, err
	}
	data, version, err := p.perform(ctx, tx)
	if r.Data = data; version != 0 {
		r.BoardVersion = &version
	}
	return r, err
}

// batch performs a batch. With an idempotency key, the response to each operation is stored for a key of its own
// and only the call itself for the key of the batch, so that a batch that was interrupted continues.
func (e *Engine) batch(ctx context.Context, c Call, in *BatchInput, refused error) (r Response, err error) {
	in.key = c.Key
	each := in.Mode == BatchEach
	if refused == nil && !each {
		refused = in.refused()
	}
	switch {
	case c.Key != "":
		r, err = e.writeOnce(ctx, c, in, refused)
	case refused != nil:
		err = refused
	case !each:
		r, err = e.write(ctx, c, in)
	}
	if err != nil || !each && !r.Replayed {
		return r, err
	}
	var before performed
	if r.Replayed {
		if err := json.Unmarshal(r.Body, &before); err != nil {
			return Response{}, fmt.Errorf("decode the record of a batch: %w", err)
		}
	}
	results, err := e.respond(c, e.each(ctx, c, in), before.BoardVersion)
	results.Replayed = r.Replayed
	return results, err
}

// performed is what is stored for the key of a batch. The responses to its operations have keys of their own.
type performed struct {
	BoardVersion int64 `json:"boardVersion,omitzero"`
}

// batchRecord returns what is stored for the key of a batch with this response.
func batchRecord(body []byte) ([]byte, error) {
	var p performed
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, fmt.Errorf("decode the response of a batch: %w", err)
	}
	return json.Marshal(p)
}

// each performs the operations of a batch one by one.
func (e *Engine) each(ctx context.Context, c Call, in *BatchInput) (out BatchOutput) {
	for i, p := range in.parts {
		call, err := p.call, p.err
		call.Caller = c.Caller
		if c.Key != "" {
			call.Key = store.PartKey(c.Key, i)
		}
		var response Response
		if err == nil {
			response, err = e.Do(ctx, call)
		}
		var result struct {
			Data         jsontext.Value `json:"data"`
			BoardVersion *int64         `json:"boardVersion"`
		}
		if err == nil {
			err = json.Unmarshal(response.Body, &result)
		}
		if err != nil {
			log := cmp.Or(e.o.Log, slog.Default()).With("operation", in.Operations[i].Operation)
			out.Results = append(out.Results, OperationResult{Error: ErrorOf(FaultOf(ctx, log, c.Caller.RequestID, err))})
			continue
		}
		out.Results = append(out.Results, OperationResult{Data: result.Data, BoardVersion: result.BoardVersion})
	}
	return out
}
