package op

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// writeOnce runs a command at most once for its idempotency key. It writes the key,
// the changes, their events and the response in one transaction. It also stores
// refusals, except those of guests and transient ones, after which a retry may
// succeed. It does not store unexpected errors.
//
// A retry may send the body's fields in another order, so the fingerprint is that of
// the canonical body.
func (e *Engine) writeOnce(ctx context.Context, c Call, in any, refused error) (Response, error) {
	release, err := e.inFlight.enter(ctx, c.Caller.KeyOwner()+"\x00"+c.Key, e.o.RetryWait)
	if err != nil {
		return Response{}, err
	}
	defer release()
	began, err := e.admission.enter(ctx, writes)
	if err != nil {
		return Response{}, err
	}
	defer e.admission.leave(writes, began)
	sum := c.asked().fingerprint(true)
	var (
		response Response
		fault    error
	)
	err = e.db.WriteTo(ctx, c.Caller, c.Operation.Input.records(in), func(tx *store.Tx) (err error) {
		fault = nil
		claim := keyClaim{load: func() (*store.StoredResponse, error) {
			return tx.ClaimKey(ctx, c.Key, c.Operation.Name, sum[:])
		}}
		response, err = e.runOnce(ctx, tx, c, in, refused, &claim)
		if claim.stored != nil {
			response, fault, err = replay(ctx, tx, c.Operation, claim.stored)
			return err
		}
		if claim.err != nil {
			return err
		}
		response.Rate = tx.Rate()
		keep := store.StoredResponse{Body: response.Body}
		if c.Operation.parts != nil && err == nil {
			if keep.Body, err = batchRecord(response.Body); err != nil {
				return err
			}
		}
		if err != nil {
			f, final := board.AsFault(err)
			if !final || transient(f) || c.Operation.Audience == Guest {
				// Guests' refusals are not stored. Otherwise anyone could fill the table.
				return err
			}
			fault = f
			if keep, err = storedFault(f); err != nil {
				return err
			}
		} else {
			keep.WorkspaceID, keep.BoardID = tx.Scope()
		}
		keep.Sealed = c.Operation.Secret
		return tx.SaveResponse(ctx, c.Key, keep)
	})
	if err == nil {
		err = fault
	}
	return response, err
}

// keyClaim looks for the response that is stored for an idempotency key.
type keyClaim struct {
	load   func() (*store.StoredResponse, error)
	done   bool
	stored *store.StoredResponse
	err    error
}

var errReplayed = errors.New("a response is stored for the idempotency key")

// run looks for a stored response on its first call. It returns errReplayed if
// there is one.
func (k *keyClaim) run() error {
	if !k.done {
		k.done = true
		k.stored, k.err = k.load()
	}
	if k.err == nil && k.stored != nil {
		return errReplayed
	}
	return k.err
}

// runOnce runs a command, unless it was already refused or a response is stored for its key. On
// PostgreSQL, a command on a board looks for the stored response when it loads its first record, so that
// both take one round trip. If a response is stored, the loader of that record returns an error, which
// ends the command.
func (e *Engine) runOnce(ctx context.Context, tx *store.Tx, c Call, in any, refused error, claim *keyClaim) (r Response, err error) {
	switch {
	case refused != nil:
		err = refused
	case len(c.Operation.Input.records(in)) > 0 && c.IfMatch == "":
		err = tx.ExpectKeyClaim(c.Key, claim.run)
	default:
		err = claim.run()
	}
	if err == nil {
		err = tx.Subtransaction(ctx, func() error {
			if err := c.checkVersion(ctx, tx, in); err != nil {
				return err
			}
			out, version, err := c.run(ctx, tx, in)
			if err == nil {
				err = claim.run()
			}
			if err != nil {
				return err
			}
			r, err = e.respond(c, out, version)
			return err
		})
	}
	if claim.done {
		return r, err
	}
	claimErr := claim.run()
	if _, used := board.AsFault(claimErr); used { // the key was used for another request
		return Response{}, claimErr
	}
	return Response{}, err
}

// transient reports whether a refusal depends on more than the arguments and the data, so that a
// retry with the same key may succeed. After a version_conflict, it has another If-Match.
func transient(f *board.Fault) bool {
	return f.Reason == board.ReasonVersionConflict || slices.Contains([]board.Code{
		board.CodeUnavailable, board.CodeInternal, board.CodeRateLimited, board.CodeUnauthenticated, board.CodeInsufficientScope,
	}, f.Code)
}

// replay returns the stored response. If that is a refusal, the first error is its fault. The
// second error is set if the caller can no longer see what the response describes.
func replay(ctx context.Context, tx *store.Tx, o *Operation, s *store.StoredResponse) (Response, error, error) {
	if err := tx.StillVisible(ctx, s.WorkspaceID, s.BoardID); err != nil {
		return Response{}, nil, err
	}
	if s.Fault != "" {
		fault, err := replayedFault(s)
		return Response{Replayed: true}, fault, err
	}
	response := Response{Body: s.Body, Replayed: true}
	if o.Starts() {
		response.job = startedJob(s.Body)
	}
	return response, nil, nil
}

// faultRecord is a fault as it is stored for an idempotency key.
type faultRecord struct {
	Message string         `json:"message"`
	Reason  board.Reason   `json:"reason,omitzero"`
	Details []board.Detail `json:"details,omitempty"`
}

func storedFault(f *board.Fault) (store.StoredResponse, error) {
	record, err := json.Marshal(faultRecord{f.Message, f.Reason, f.Details})
	return store.StoredResponse{Fault: f.Code, Body: record}, err
}

// replayedFault returns a stored fault.
func replayedFault(s *store.StoredResponse) (*board.Fault, error) {
	var r faultRecord
	err := json.Unmarshal(s.Body, &r)
	return &board.Fault{Code: s.Fault, Message: r.Message, Reason: r.Reason, Details: r.Details}, err
}
