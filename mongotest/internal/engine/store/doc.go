// Package store keeps collections in memory: records in the order of their
// insertion, indexes as ordered trees, and versions that never change once
// they can be seen.
//
// # Reading
//
// [Store.Snapshot] returns a [State]: all collections as they are at that
// instant. It costs nothing, takes no lock, and stays as it is.
//
// # Writing
//
// One write runs at a time. [Store.Write] gives a function a [Writer]; what it
// did shows to readers all at once when it returns nil, and not at all when it
// returns an error. A write that meets a record or a unique key that an open
// transaction has changed waits for the transaction's end and starts over.
//
// # Transactions
//
// A [Txn] reads the state of its begin and its own writes. Changing what
// another has changed since then, or has changed in a transaction that is
// still open, is error 112, WriteConflict, which carries the label
// TransientTransactionError. So is an insert of a unique key that another has
// inserted since then, even if the document is deleted again. A transaction that lives longer than [Lifetime]
// is aborted by whoever waits for it or uses it next.
//
// # Expiry
//
// [Store.Sweep] removes what TTL indexes say has expired; whoever calls it
// before taking a snapshot never sees an expired document.
package store
