// Package op is the one road that every call takes, whatever door it came
// through: find the operation, read its input strictly, check the scope, open
// one transaction, run the function, record it, answer.
//
// A Registry holds the operations; from one line of registration follow the
// route, the OpenAPI entry, the tool of an assistant, validation, idempotency,
// paging, the audit entry and a row in the tests that loop over all.
package op
