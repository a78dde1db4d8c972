// Package modeltest tests models without a server: a real driver client of an engine in memory, what operations cost,
// which index serves them, what a crash or a race leaves, and what differs.
//
// The engine is a test double. It lives in this process and in memory, keeps nothing, has no users, and is no database
// to run anything on. What is tested with it can be run on a real server too, unchanged: see [Each].
//
// # Choosing
//
//	a client in a test, with an engine of its own          NewClient
//	a client in an example or a program                    Start
//	the same test on the engine and on a real server       Each, MONGODB_URI
//	what that server can't do                              NeedTransactions, NeedValidators, NeedChangeStreams, Need
//	how many commands and documents an operation takes     NewMonitor, WantCost, Measure
//	what was sent                                          Monitor.Commands
//	whether an index serves a query                        WantIndexed
//	how two documents differ, type by type                 Diff
//	one failure at one place                               NewFaults, Fail, FailInside, CutBefore, CutInside, CutAfter
//	one command late, or waiting for the test              Delay, Hold
//	change streams that show changes late                  WithChangeLag
//	a crash at every place                                 FaultMatrix
//	two operations at a time, in every order               Interleave
//	a whole model: all of this, under scopes too           Verify
//	a whole database as text, and back                     Dump, Load
//	a recorded session with a server, without the server   Replay, WithAnyOrder
//
// Monitors and faults are no part of the engine: they work with the client of any server.
//
// # Tasks
//
//   - Get a client: [NewClient], [Start]; with options: [WithClientOptions], [WithMonitor], [WithFaults], [WithChangeLag]; run a test on a
//     server too: [Each]; leave out what that can't do: [Need], [NeedTransactions], [NeedValidators], [NeedChangeStreams]
//   - See what was sent, and what it cost: [NewMonitor], [Monitor.Commands], [Measure]; hold it to a price: [WantCost]; to an index:
//     [WantIndexed]
//   - Let commands fail, wait or break off: [NewFaults], [Faults.On], [Faults.From]; which: [Writes], [Reads], [Named], [On], [Both];
//     how: [Fail], [FailInside], [CutBefore], [CutInside], [CutAfter], [Delay], [Hold]
//   - Test a model, in one call: [Verify]; try every cut, and every order of two: [FaultMatrix], [Interleave]
//   - Compare what is stored: [Diff], [IgnoreOrder]; fill a database and look at all of it: [Load], [Dump]
//   - Record what a server answers, and test without it: [Replay], [WithAnyOrder]
//
// # Costs
//
// A client with an engine of its own takes about a tenth of a millisecond. [FaultMatrix] runs its operation three times for each way
// in which each write can go wrong, of which there are three to six, and [Interleave] once for each order, some hundreds: keep what
// they run small. [Verify] does both for all operations, in two ways and in two more for each scope: eight operations take some
// seconds. Where there is a server, a share runs. [WantIndexed] sends an explain, and the Need functions one command
// or a few.
//
// # Backends
//
// [Each], [FaultMatrix], [Interleave] and [Verify] run on the engine as the subtest "engine", and where MONGODB_URI is set, on that
// server as the subtest "server", in databases of their own. What is left out there is skipped with "server lacks: " and
// the feature's name, so that the tests of both can be counted against each other. Nothing else is skipped.
//
// # Time
//
// An engine works inside a testing/synctest bubble, where a sleep of days takes no time: for what expires, and for time
// buckets. An engine removes an expired document before the next command. A MongoDB does so up to a minute later, or more:
// a [TTL] makes the engine as late, or has it wait for the test.
//
// # Code that doesn't use this library
//
// Nothing here but [Verify] asks for models: what is tested may be any code that takes a *mongo.Client, a *mongo.Database or a
// *mongo.Collection of the driver. The examples "Repository", "Failures" and "Queries" test such code.
//
//	func TestTransfer(t *testing.T) {
//		client := modeltest.NewClient(t)
//		accounts := bank.New(client.Database("bank"))
//		…
//	}
//
// A test needs no cleaning up, may run in parallel with all others, and sees nothing of them. Connection strings, hosts, TLS
// and compression are not tested by it, for there is no network.
//
// # What the engine has
//
// It answers as MongoDB 8.0, as the primary of a replica set of one member: the commands, operators and stages that this
// library emits, and those that code around it commonly needs. Each exported method of the driver's Client, Database,
// Collection, Session, IndexView, Cursor and ChangeStream works, but for search indexes; so do GridFS, which is made
// of collections, sessions with transactions or with snapshots, retryable writes, causal consistency, change streams, and
// Client.BulkWrite. Indexes are enforced and used: unique, compound, multikey, sparse, partial, hashed, wildcard and expiring ones,
// as explain shows. So are validators, by $jsonSchema with all of MongoDB's keywords but those of encryption, or by any other filter.
// There are views, capped collections with tailable cursors, and time series collections. The command configureFailPoint lets
// commands fail in the server, as in MongoDB's own tests, beside the faults of this package, which are the client's.
//
// OPERATORS.md lists the operators, and which packages emit them; a test holds that list equal to the engine's registries.
//
// # Limits
//
// What the engine doesn't know, or can't do, is an error that names it; nothing is ignored. A known operator, stage or option that isn't
// there is error 238, NotImplemented; a command, 115, CommandNotSupported, or 59, CommandNotFound. Refused are:
//
//   - collations but the simple one; clustered collections; updates of time series collections that MongoDB 8.0 refuses too
//   - text, 2d and compound wildcard indexes; 2dsphere indexes are accepted, and serve no query
//   - the options min, max, returnKey and showRecordId of find
//   - expanded events and large events in parts, of change streams, whose history is 10,000 changes
//   - encryption, users and roles, sharding, a second member, and what serverStatus says of memory, locks and latencies; $collStats
//     and $indexStats tell sizes in memory, counts, and how many commands have read an index
//   - regular expressions with lookaround, backreferences or possessive quantifiers; dates without a format that count from another
//     ("tomorrow", "+1 day"); sines, cosines and tangents of decimals above 1E+45
//
// Percentiles are exact, where a server approximates those of many numbers. Powers, logarithms and sines are the numbers next to the
// exact results, where a server's may have another last digit.
//
// Three things are otherwise than on a server. Nothing fails over, and nothing is lost in a crash. One write at a time runs, so
// that plans are the same each time, and speed says little about a server's. A transaction of which no connection is left is
// aborted after 5 seconds, where a server lets it hold its documents for the 60 seconds of its lifetime.
//
// # How it was verified
//
// The suites of this library run on it and on a real server, FerretDB over DocumentDB; and a differential test gives both the same
// random documents, filters, updates, projections and pipelines, over every operator that the engine has, and compares what comes
// back and what is stored. Where they differ, MongoDB's manual decides; each way in which that server differs from it is
// a rule with a reason and a page.
//
// Not compared with a server, because the one at hand has none: transactions and their conflicts, retryable writes, sessions,
// change streams, Client.BulkWrite, the time at which documents expire, hashed and wildcard indexes, views, capped and time series
// collections, fail points. They follow
// MongoDB's manual, whose worked examples are among their tests. Error codes are compared where code acts upon them (a duplicate
// key, a change of _id, anything else); the texts of errors are not.
package modeltest
