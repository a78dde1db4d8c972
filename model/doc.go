// Package model has typed collections, queries, writes and plans for document modeling.
//
// Declare each technique, such as a tree, once. Methods without a context send nothing. A
// technique's method returns a [Find], [Aggregate], [Modify], [Write], [Plan], [Change]
// or [Job]. You can inspect and change the returned value. Run the value on a
// *mongo.Database.
//
// # Choosing
//
//	Declare documents                    [NewCollection]
//	Read documents                       [Collection.Find], [Collection.ByID]
//	Read some fields                     [Project]
//	Read page after page                 [Find.After], [Find.Page]
//	Read by a pipeline                   [Collection.Aggregate], [AggregateAs]
//	Store documents                      [Collection.Insert], [Collection.InsertMany], [Collection.Replace]
//	Change one document                  [Collection.Update], [Modify]
//	Run several writes                   [NewPlan], [Concat], [Plan.Run], [Plan.RunTx]
//	Join updates of one document         [Merge]
//	Join several plans or changes        [MergePlans], [Change.Also], [InTx]
//	Read, decide, write, retry           [Change]
//	Run each action in a transaction     [WithTransactions]
//	Send fewer commands per plan         [WithBulkWrite]
//	Allow one writer at a time           [Lease]
//	Process a collection in use          [Job]
//	Tenants, soft deletion, updatedAt    [Scope]
//	Use techniques together              [New], [Model]
//	Run checks and repairs               [Model.Audit], [Check.Job]
//	Log or trace operations              [Observer], [LogTo]
//	See what is sent                     the methods String and Command
//
// # Costs
//
// Queries, writes and plans have a method Cost.
//
// # Consistency
//
// [Plan.Guarantee] says whether an interrupted plan can run again. If another client has
// changed a value in a write's filter, the write changes nothing: see [Write].Expect.
//
// # Errors
//
//   - [*DeclarationError]: a wrong declaration, as a panic
//   - [*ValueError]: bad input, nothing was sent
//   - [*ConflictError]: conflicting writes, or a command that a [Scope] refuses
//   - [*StepError]: a plan's failed step, with the cause
//   - [ErrTransactional]: the plan needs a transaction
//   - [ErrNoTransactions]: the server has no transactions
//   - [ErrNotFound]: no document was found
package model

// The rest of this file is for people who change the package. docs/ARCHITECTURE.md has the
// layers: a file refers only to files of its own layer and of the layers before it.
//
// # How a command is sent
//
//  1. A value says what to send: Query, Aggregation, FindAndModify, Write, Plan.
//  2. The database says what is added to the command. A DB of Scope.On, Model.On, Observer.On,
//     WithTransactions or WithBulkWrite is a *handle. Its rewriter (a list of scopes, rewriter.go)
//     returns the value with the tenant's conditions, the stamps and the keyed _ids. A router
//     (type routes) adds shard keys that the operation has read.
//  3. A read (read.go) opens cursors and decodes documents. A runner (run.go) sends a plan: split
//     makes batches of neighboring writes of one kind and collection, grouped (run_together.go) joins
//     batches to commands, and the runner compares each answer with Write.Expect, Done and Reasons.
//  4. An observation (observer_run.go) tells Observers of it. begin returns nil without observers,
//     and all methods of a nil observation do nothing.
//
// # How a change runs
//
// change_run.go reads a state, asks Decide for the plan, and runs the plan. After ErrStale it begins
// again. Store's actions, jobs' batches and repairs are changes. In a transaction of WithTransactions,
// each attempt is one transaction.
//
// A transaction that this package runs has a runctx.Tx in its context. The first run of a transaction is
// hopeful: it leaves out reads that seldom matter, and joins commands. Its writes are stale if such a read
// would have mattered. Then Tx.Again is set, and the transaction runs again, in a surer way: with all reads
// (Tx.Sure, Tx.ReadFirst), or command after command.
//
// # How a store works
//
// An action is one call of Store.Insert, Set, Delete and so on. Its storeState (store_prepare.go) has the
// caller's document and each document that the techniques want to write too. The steps:
//
//  1. store_target.go finds the caller's document. In a transaction of its own, store_first.go writes it
//     before anything is read: a refused action aborts the transaction anyway.
//  2. concerned (store_react.go) finds the Reactions that the writes concern, and reads what their Fetch
//     names (store_fetch.go). A reactionCall is one Reaction with one write and its fetched documents.
//  3. Amend sets fields, React answers with further writes. A written document of another collection is
//     the next level: its own Reactions are asked, until no new document comes.
//  4. store_plan.go makes the plan. In a transaction, it holds each document on which the action relies:
//     it increments the document's field _m.hold (a heldDoc), so that a concurrent change of it conflicts.
//  5. Outside transactions, the first write stores the unfinished action in the document's field _m.op
//     (type unfinished). The last write removes it. store_resume.go and store_unfinished.go finish actions
//     that somebody else began.
//
// # Words
//
//	bare                a database without its scopes: for documents of the library itself, and for commands
//	                    that are rewritten already
//	bare filter         a filter without the conditions of Store.Where
//	keyed               documents whose _ids carry the tenant under a scope
//	own documents       the documents that the caller gave to an action, not those of its techniques
//	hidden              stored, but not found under the scope: another tenant's, or marked as deleted
//	owned paths         paths that only their technique writes (Footprint, Owns)
//	mark                a field by which a stream recognizes its own updates (stream_mark.go)
//	use                 a collection in which a command compares a tenant that is a text: its default
//	                    collation must be simple
//	leaner plan         a plan with fewer steps in a transaction (Plan.InTx)
//	ran before          an earlier attempt has applied the plan, as a token or an equal document shows
//	outlive             a context that lasts a little longer than the caller's, to close and release
//	//go:noinline       keeps the code out of functions that are compiled for each document type
