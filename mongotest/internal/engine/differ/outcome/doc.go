// Package outcome runs a case of the differential test on a backend, which is a database of the engine or of a
// server, and compares what two backends did.
//
// An [Outcome] as it is saved in a file under differ/testdata:
//
//	{"code": 28, "reply": {"n": 0, "nModified": 0}, "state": [{"_id": 1, "c": [1]}]}
//
// [Backend.Run] goes through these steps:
//
//  1. Delete the documents that the previous case left. Collections and indexes stay.
//  2. Insert the case's documents, unordered: a unique index may refuse some of them, and the others are the case.
//     If the insert fails in another way, the case says nothing ([ErrNotLoaded]).
//  3. Send the command, and take from the reply what must be equal on all servers: documents, counts, error codes.
//  4. If the command can write, read the collection and the collection "out" of $out and $merge.
//  5. Put what comes in no determined order into one, and replace what depends on the time of the run ([Normalize]):
//     clocks, new ObjectIDs, the bits of a NaN.
//
// [Compare] then says in which way two outcomes differ. Error codes are compared by class only, because MongoDB
// documents few of them (https://www.mongodb.com/docs/manual/reference/error-codes/): a duplicate key and a changed
// _id are classes of their own, all other codes are one. Texts of errors are never compared.
//
// Invariants:
//
//   - Equal means equal bytes. The order of fields and the types of numbers count.
//   - Stored documents are compared even if the command fails on both backends, as a failed update of many documents
//     may have changed some of them.
//   - A backend is used by one goroutine at a time. Each worker of the runner has its own pair.
//   - After a crash of the server, [Backend.Recover] makes the database anew.
//
// The runner in differ and the rules call this package; rules ask the engine what it does with other cases
// ([Backend.TryRun]).
package outcome
