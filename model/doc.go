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
