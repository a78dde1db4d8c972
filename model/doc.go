// Package model is the vocabulary in which techniques of document modeling are written: collections of typed documents,
// queries and writes as values, plans that say what a crash leaves, and the price of each before it runs.
//
// A technique (a child reference, a bounded array, a tree) is a value that is declared once over collections. Its methods
// are pure: they return a [Find], an [Aggregate], a [Modify], a [Write], a [Plan], a [Change] or a [Job], and nothing
// happens until the caller runs it against a *mongo.Database of the official driver. Filters and updates are bson.D,
// pipelines mongo.Pipeline, writes mongo.WriteModel: what a technique returns can be looked at, changed, or handed to the
// driver by hand.
//
// # Choosing
//
//	Declare documents                         [NewCollection]
//	Read documents                            [Collection.Find], [Collection.ByID], [Find]
//	Read a part of each                       [Project]
//	Read page after page                      [Find.After]; by tokens, both ways: [Find.Page]
//	Read by a pipeline                        [Collection.Aggregate], [AggregateAs]
//	Store one document, or many               [Collection.Insert], [Collection.InsertMany], [Collection.Replace]
//	Change one document                       [Collection.Update], [Modify]
//	Several writes that belong together       [NewPlan], [Concat], [Plan.Run], [Plan.RunTx]
//	Two techniques on one document            [Merge]
//	All that one action of a user touches     [MergePlans], [Change.Also]; what has to be run apart [InTx]
//	Read, decide, write, and again if stale   [Change]
//	Each action in a transaction of its own   [WithTransactions]
//	Fewer commands to a plan                  [WithBulkWrite]
//	One writer at a time, the dead finished   [Lease]
//	Work through a live collection            [Job]
//	A tenant, soft deletion, updatedAt        [Scope]
//	Techniques that are used together         [New]; their indexes, diagram, checks and needs [Model]
//	Every check in one call, one job to mend  [Model.Audit]
//	Log or trace every operation              [Observer], [LogTo]
//	What a value would send                   its String method, a mongosh command; Command for reads
//
// # Tasks
//
//   - Find and mend what other code wrote: [Check], [Check.Job]
//
// Package embed has techniques of one document: elements of an array, versions, values of many types.
//
// # Costs
//
// What can be priced before it runs has a Cost method ([Find], [Aggregate], [Modify], [Write], [MergeInto], [Plan]): commands sent,
// documents written, and the indexes that serve it, where they are known. A plan's cost and its run split the steps into commands by
// the same code. What a [Change], a [Job] or a [Stream] costs depends on what it reads: the comment of what makes it tells the price
// of an attempt, a batch or an event. Package modeltest measures the same of a run, and a test can assert it.
//
// # Consistency
//
// A [Plan] is atomic, rerunnable or transactional ([Plan.Guarantee]). A write that was computed from what was read carries
// that in its filter and expects one match; when nothing matches, the plan asks whether this very write was applied before
// (Write.Done), and if not returns [ErrStale], [ErrNotFound] if its document is gone, or the error of the [Reason] that holds, and
// sends no later step.
//
// # Errors
//
// A mistake in a declaration panics with a [*DeclarationError] when the program starts. Bad input is a [*ValueError] that
// names the collection, the field and the value, and is found before anything is sent; two writes that can't be one are a
// [*ConflictError]. A step that fails is a [*StepError], which wraps the driver's error, [ErrStale], [ErrNotFound] or what is wrong with the step; a
// plan that is refused as a whole is [ErrTransactional] or [ErrNoTransactions]. A read returns the driver's errors; of one document
// that isn't there, [ErrNotFound].
//
// # Limits
//
// A document has 16 MiB and 100 levels; inserts and replacements are checked for both. A statement (filter, update and
// array filters together) has 16 MiB. BSON options that a client sets for all its collections rename fields unseen: give
// them to [NewCollection] too.
//
// Where there is a registry of one's own, nested maps are written in no particular order.
package model
