// Package model has typed collections, queries, writes and plans for document modeling.
//
// You declare a technique, such as a tree, once. The technique's methods send nothing.
// They return a [Find], [Aggregate], [Modify], [Write], [Plan], [Change] or [Job]. You
// can inspect and change the returned value, and run it on a *mongo.Database.
//
// # Choosing
//
//	Declare documents                    [NewCollection]
//	Read documents                       [Collection.Find], [Collection.ByID]
//	Read some fields                     [Project]
//	Read page after page                 [Find.After]; by tokens, both ways: [Find.Page]
//	Read by a pipeline                   [Collection.Aggregate], [AggregateAs]
//	Store documents                      [Collection.Insert], [Collection.InsertMany], [Collection.Replace]
//	Change one document                  [Collection.Update], [Modify]
//	Run several writes                   [NewPlan], [Concat], [Plan.Run], [Plan.RunTx]
//	Two techniques on one document       [Merge]
//	All writes of a user's action        [MergePlans], [Change.Also]; one by one: [InTx]
//	Read, decide, write, retry if stale  [Change]
//	A transaction for each action        [WithTransactions]
//	Fewer commands per plan              [WithBulkWrite]
//	One writer at a time                 [Lease]
//	Work through a live collection       [Job]
//	Tenants, soft deletion, updatedAt    [Scope]
//	Techniques used together             [New]; indexes, diagram, checks, needs: [Model]
//	Run all checks, repair               [Model.Audit]; one check: [Check.Job]
//	Log or trace operations              [Observer], [LogTo]
//	See what is sent                     String (mongosh); Command for reads
//
// # Costs
//
// Queries, writes and plans have a method Cost, which sends nothing.
//
// # Consistency
//
// [Plan.Guarantee] says whether an interrupted plan can run again. If another client has
// changed a value that a write needs, the write changes nothing: see [Write].Expect.
//
// # Errors
//
//   - [*DeclarationError]: a wrong declaration, as a panic at program start
//   - [*ValueError]: bad input, nothing was sent
//   - [*ConflictError]: two writes that can't be merged
//   - [*StepError]: a plan's failed step, with the cause
//   - [ErrTransactional]: the plan needs a transaction
//   - [ErrNoTransactions]: the server has no transactions
//   - [ErrNotFound]: no document was found
package model
