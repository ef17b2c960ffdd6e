package op

import (
	"context"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Check refuses what a command would refuse before it runs: an operation that
// cannot be part of a transaction, and an input that is not as it should be. The
// input is one flat object.
func (r *Registry) Check(name string, input []byte) error {
	_, _, err := r.part(name, input)
	return err
}

func (r *Registry) part(name string, input []byte) (Call, any, error) {
	o := r.Named(name)
	if o == nil || o.command == nil || o.SignedIn || o.Anonymous || o.Recent || o.before != nil {
		return Call{}, nil, fmt.Errorf("op: %s is no command that can be a part of a transaction", name)
	}
	args, _, err := o.Spread(input)
	if err != nil {
		return Call{}, nil, err
	}
	in, err := o.Input.decode(args)
	if _, outbound := in.(interface{ Outbound() string }); err == nil && outbound {
		err = fmt.Errorf("op: %s names an address outside, which a transaction cannot check", name)
	}
	return Call{Operation: o, Arguments: args}, in, err
}

// Within runs a command as a part of a transaction, as its caller, with its own
// entry in the audit. The scope is checked and the input, one flat object, read
// as strictly as at every door. Its error must end the transaction, or the
// attempt (store.Tx.Attempt) that it is a part of.
func (r *Registry) Within(ctx context.Context, tx *store.Tx, name string, input []byte) (out any, err error) {
	call, in, err := r.part(name, input)
	if err != nil {
		return nil, err
	}
	call.Caller = tx.Caller()
	if !call.Caller.Has(call.Operation.Scope) {
		return nil, board.Refuse(board.CodeInsufficientScope, "This needs the scope %s.", call.Operation.Scope)
	}
	out, _, err = call.run(ctx, tx, in)
	return out, err
}
