// Package model has the building blocks of document modeling: typed collections, queries
// and writes as values, plans, and their cost before they run.
//
// A technique (a child reference, a bounded array, a tree) is a value declared once over
// collections. Its pure methods return a [Find], [Aggregate], [Modify], [Write], [Plan],
// [Change] or [Job], which the caller runs against a *mongo.Database. Filters and updates
// are bson.D, pipelines mongo.Pipeline, writes mongo.WriteModel: inspect them, change
// them, or pass them to the driver.
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
// [Find], [Aggregate], [Modify], [Write], [MergeInto] and [Plan] have a method Cost,
// which sends nothing. The cost of a [Change], [Job] or [Stream] depends on what it
// reads: the method that returns it documents the cost of an attempt, batch or event.
//
// # Consistency
//
// A [Plan] is atomic, rerunnable or transactional ([Plan.Guarantee]). A write that was
// computed from a read has the read values in its filter, and expects one match. If
// nothing matches, the plan stops: see [Write].Expect.
//
// # Errors
//
//   - [*DeclarationError]: a mistake in a declaration, a panic at program start
//   - [*ValueError]: bad input, found before anything is sent
//   - [*ConflictError]: two writes that can't be merged
//   - [*StepError]: a failed step, around its cause
//   - [ErrTransactional], [ErrNoTransactions]: the whole plan is refused
//
// Reads return the driver's errors, or [ErrNotFound].
//
// # Limits
//
// A document may have 16 MiB and 100 levels, which inserts and replacements check.
// Filter, update and array filters together may have 16 MiB. A custom registry stores
// nested maps in no fixed key order.
package model
