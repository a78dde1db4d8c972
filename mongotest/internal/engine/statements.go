package engine

// This file has the common part of insert, update, delete and bulkWrite: a list of statements, of which each may fail.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// maxBatch is how many statements a command may have. hello tells it to the driver, which divides larger batches.
const maxBatch = 100_000

// statements is the list of statements of a write command that runs. The error of a statement is in writeErrors of the
// reply, and the command itself goes well. It ends the list if the list is ordered, or in a transaction.
type statements struct {
	request *request
	ordered bool
	ids     []int32 // the ids of the statements of a retryable write; nil means first, first+1 and so on
	first   int32
	errors  bson.A // writeErrors: {index: 3, code: 11000, errmsg: "…"}
}

// newStatements reads the common fields of a write command of n statements. Nothing is written if one is wrong.
func newStatements(r *request, a *args.Reader, n int) (*statements, error) {
	st := &statements{request: r, ordered: a.Boolean("ordered", true)}
	r.route.batch = n
	r.bypass = a.Boolean("bypassDocumentValidation", false)
	st.first = int32(a.Natural("stmtId", 0))
	// stmtId is the id of the first statement. stmtIds, in its place, has an id for each.
	for _, v := range a.Array("stmtIds") {
		id, ok := args.ReadWhole(v)
		if !ok {
			a.RefuseType("stmtIds", v, "int")
		}
		st.ids = append(st.ids, int32(id))
	}
	if a.Err != nil {
		return nil, a.Err
	}
	switch {
	case n < 1 || n > maxBatch:
		return nil, mongoerr.New(mongoerr.InvalidLength,
			"Write batch sizes must be between 1 and %d. Got %d operations.", maxBatch, n)
	case st.ids != nil && len(st.ids) != n:
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"the number of statement ids must match the number of statements")
	}
	return st, nil
}

// statementID returns the id under which a session remembers the i-th statement. The driver gives ids if it divides a
// batch.
func (st *statements) statementID(i int) int32 {
	if st.ids != nil {
		return st.ids[i]
	}
	return st.first + int32(i)
}

// isStopped reports whether no further statement may run.
func (st *statements) isStopped() bool {
	return len(st.errors) > 0 && (st.ordered || st.request.txn != nil)
}

// noteResult notes how the i-th statement ended. An error that it returns ends the whole command: a conflict of
// transactions, or the error of a command that is over. Any other error is one of the statement.
func (st *statements) noteResult(i int, err error) error {
	if err == nil {
		return nil
	}
	e := mongoerr.Convert(err)
	if e.Code == mongoerr.WriteConflict || e.Code == mongoerr.NoSuchTransaction || interrupt.Ends(e.Code) {
		return err
	}
	st.request.partial = true
	doc := bson.D{{Key: "index", Value: int32(i)}, {Key: "code", Value: e.Code}}
	doc = append(doc, e.Extra...)
	st.errors = append(st.errors, append(doc, bson.E{Key: "errmsg", Value: e.Message}))
	return nil
}

// addErrors adds the errors of statements to a reply.
func (st *statements) addErrors(rep reply) reply {
	if len(st.errors) > 0 {
		rep = append(rep, bson.E{Key: "writeErrors", Value: st.errors})
	}
	return rep
}
