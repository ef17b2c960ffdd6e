package op

import (
	"context"
	"fmt"

	"cardwall/internal/store"
)

// Part is a command that is to be a part of a transaction, with its input read.
type Part struct {
	call Call
	in   any
}

// Part reads the input of a command, one flat object, as strictly as at every
// door. It refuses what the command would refuse before it runs, and an operation
// that cannot be part of a transaction.
func (r *Registry) Part(name string, input []byte) (Part, error) {
	o := r.Named(name)
	if o == nil || o.command == nil || o.SignedIn || o.Anonymous || o.Recent || o.before != nil {
		return Part{}, fmt.Errorf("op: %s is no command that can be a part of a transaction", name)
	}
	args, _, err := o.Spread(input)
	if err != nil {
		return Part{}, err
	}
	in, err := o.Input.decode(args)
	if _, outbound := in.(interface{ Outbound() string }); err == nil && outbound {
		err = fmt.Errorf("op: %s names an address outside, which a transaction cannot check", name)
	}
	return Part{Call{Operation: o, Arguments: args}, in}, err
}

// Within runs the command in a transaction, as its caller, with its own entry in
// the audit. The scope is checked. Its error must end the transaction, or the
// attempt (store.Tx.Attempt) that it is a part of.
func (p Part) Within(ctx context.Context, tx *store.Tx) (out any, err error) {
	call := p.call
	call.Caller = tx.Caller()
	if err := call.Caller.Needs(call.Operation.Scope, "This"); err != nil {
		return nil, err
	}
	if err := call.Operation.Input.permit(call.Caller, p.in); err != nil {
		return nil, err
	}
	out, _, err = call.run(ctx, tx, p.in)
	return out, err
}

// Within is Part, and the part's Within.
func (r *Registry) Within(ctx context.Context, tx *store.Tx, name string, input []byte) (out any, err error) {
	part, err := r.Part(name, input)
	if err != nil {
		return nil, err
	}
	return part.Within(ctx, tx)
}
