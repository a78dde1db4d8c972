// Package store keeps an engine's collections in memory: records in the order of their insertion, indexes as ordered
// trees, and versions that never change once they can be seen. It knows no commands and no queries. The engine's
// commands write by it, package plan reads from it, and package changestream reads its history.
//
// # Words
//
//   - A Record is one version of a document, with a number that stays when the document changes.
//   - A State is all collections at one instant, a Collection one version of one of them. Both never change.
//   - A Tree is an immutable ordered set (btree.go). An Editor makes a changed copy that shares most nodes.
//   - A Writer collects changes, which its owner publishes or forgets. Its collEdits are the collections that it
//     changes, as editors of their trees.
//   - An Entry of an index is a key, one value for each field, and the number of the record that has it. A document
//     with an array has several keys: the index is multikey.
//   - An Event is a committed change in the history. Its Position is the commit's cluster time and a place within it.
//   - A spec that guards has unique keys, or takes no new duplicates (prepareUnique).
//
// # Reading
//
// [Store.Snapshot] returns a State. It costs nothing, takes no lock, and stays as it is. [Store.FindState] returns an
// older one, for reads at a cluster time (versions.go).
//
// # Writing
//
//  1. [Store.Write] takes the store's lock and calls a function with a [Writer]. One write runs at a time.
//  2. For each document the writer computes what changes in each index (edit.go), asks whether an open transaction is
//     in the way (claim.go), and checks unique keys. It changes its editors only then, so that each step does all or
//     nothing.
//  3. If the function returns nil, the new state is published: readers see all changes at once, and the history gets
//     them as events (history.go). After an error nothing has happened.
//  4. A write that meets a record or a unique key of an open transaction waits for the transaction's end, and runs
//     again.
//
// # Transactions
//
// A [Txn] reads the state of its begin and its own writes. It fails with WriteConflict (112) and the label
// TransientTransactionError if it changes a record that another has changed since then, or has changed in a transaction
// that is still open. So does an insert of a unique key that another has inserted since then, even if the document is
// deleted again. A commit repeats the changes on the current state. A transaction that lives longer than [Lifetime] is
// aborted by the next command that meets it.
//
// # Expiry
//
// [Store.RemoveExpired] removes the documents that TTL indexes say have expired. A command that calls it before it
// takes a snapshot never sees an expired document.
package store
