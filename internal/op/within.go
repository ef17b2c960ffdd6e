package op

import (
	"context"
	"fmt"

	"cardwall/internal/store"
)

// Part is a command with its decoded input that can run inside a transaction.
type Part struct {
	call Call
	in   any
}

// Part decodes the input of a command, one flat object, as strictly as REST and MCP
// do. It returns an error if the engine would refuse the input before running the
// command, or if the operation cannot run inside a transaction.
func (r *Registry) Part(name string, input []byte) (Part, error) {
	o := r.Named(name)
	if o == nil || o.command == nil || o.Audience.NeedsSession() || o.Audience.NeedsNoAccount() || o.Recent || o.before != nil ||
		o.parts != nil {
		return Part{}, fmt.Errorf("op: %s is not a command that can run inside a transaction", name)
	}
	args, _, err := o.Spread(input)
	if err != nil {
		return Part{}, err
	}
	in, err := o.Input.decode(args)
	if _, outbound := in.(interface{ Outbound() string }); err == nil && outbound {
		err = fmt.Errorf("op: %s takes an outbound URL, which cannot be checked inside a transaction", name)
	}
	return Part{Call{Operation: o, Arguments: args}, in}, err
}

// Within runs the command in a transaction as the transaction's caller, whose
// scopes it checks. It writes an audit entry for the command. If it returns an
// error, the caller must roll back the transaction, or the subtransaction around
// the call.
func (p Part) Within(ctx context.Context, tx *store.Tx) (out any, err error) {
	out, _, err = p.perform(ctx, tx)
	return out, err
}

// perform is Within, and also returns the version of the board after the command.
func (p Part) perform(ctx context.Context, tx *store.Tx) (out any, version int64, err error) {
	call := p.call
	call.Caller = tx.Caller()
	if err := call.Caller.Needs(call.Operation.Scope, "This"); err != nil {
		return nil, 0, err
	}
	if err := call.Operation.Input.permit(call.Caller, p.in); err != nil {
		return nil, 0, err
	}
	return call.run(ctx, tx, p.in)
}

// Within decodes the input of a command with Part and runs the command.
func (r *Registry) Within(ctx context.Context, tx *store.Tx, name string, input []byte) (out any, err error) {
	part, err := r.Part(name, input)
	if err != nil {
		return nil, err
	}
	return part.Within(ctx, tx)
}
