// Package modeltest tests code that uses MongoDB, without a server to install. It has a server in memory, the engine, which the
// official driver connects to like any other. It shows what an operation sends and costs, lets it fail at any place, and runs it
// against another operation in every order.
//
// The code under test may use this library, or the driver alone:
//
//	func TestTransfer(t *testing.T) {
//		client := modeltest.NewClient(t)         // a *mongo.Client, with an empty engine of its own
//		accounts := bank.New(client.Database("bank"))
//		…
//	}
//
// A test needs no cleaning up, may run in parallel with all others, and sees nothing of them.
//
// The engine is a test double. It lives in this process and in memory, keeps nothing, and has no users. The same tests run
// unchanged on a real server, too: see [Each].
//
// # Choosing
//
//	the test has                                           use
//	a client as an argument                                NewClient; Start in an example or a program
//	a connection string                                    Listen
//	a real server to pass on as well                       Each, MONGODB_URI
//	a feature that such a server lacks                     NeedTransactions, NeedValidators, NeedChangeStreams, Need
//	a recording of what a real server answered             Replay, WithAnyOrder
//
//	the question is                                        use
//	what was sent?                                         NewMonitor, Monitor.Commands
//	how many commands and documents does it take?          WantCost, Measure
//	does an index serve it?                                WantIndexed
//	how do two documents differ, type by type?             Diff
//	what is in the database?                               Dump; Load fills it
//
//	the trouble is                                         use
//	one failure at one place                               NewFaults, Fail, FailInside, CutBefore, CutInside, CutAfter
//	one command late, or waiting for the test              Delay, Hold
//	change streams that show changes late                  WithChangeLag
//	documents that expire late                             WithTTL
//	days that must pass, a given day                       WithClock; testing/synctest
//	a crash at every place                                 FaultMatrix
//	two operations at a time, in every order               Interleave
//	a sharded cluster: how many shards, what is refused    WithShards
//	a whole model: all of this, under scopes too           Verify
//
// # Tasks
//
//   - Get a client: [NewClient], [Start]. Get a connection string: [Listen]. With options: [WithClientOptions], [WithMonitor],
//     [WithFaults], [WithChangeLag], [WithTTL], [WithClock].
//   - Run a test on a server too: [Each]. Leave out what that server can't do: [Need], [NeedTransactions], [NeedValidators],
//     [NeedChangeStreams].
//   - Record what a server answers, and test without it: [Replay], [WithAnyOrder].
//   - Fill a database and look at all of it: [Load], [Dump]. Compare what is stored: [Diff], [IgnoreOrder].
//   - See what was sent, and what it cost: [NewMonitor], [Monitor.Commands], [Measure]. Hold it to a price: [WantCost]. Hold it to an
//     index: [WantIndexed].
//   - Let commands fail, wait or break off: [NewFaults], [Faults.On], [Faults.From]. Which commands: [Writes], [Reads], [Named], [On],
//     [Both]. How: [Fail], [FailInside], [CutBefore], [CutInside], [CutAfter], [Delay], [Hold].
//   - Try every cut, and every order of two operations: [FaultMatrix], [Interleave].
//   - Count the shards that commands are sent to: [NewShards], [WithShards], [Shards.Touched].
//   - Test a model in one call: [Verify]. Only Verify asks for a model of this library.
//
// The examples "Repository", "Failures" and "Queries" test code that uses the driver alone. So does the program examples/server,
// which also reads files of mongoexport and mongodump.
//
// Monitors and faults aren't part of the engine. They work with the client of any server.
//
// # Time
//
// NewClient works inside a testing/synctest bubble, where a sleep of days takes no time. The engine's clock is the bubble's: for
// $$NOW and $currentDate, and for documents that expire. Listen doesn't work there, because the network is outside the bubble.
//
// Outside a bubble, and with Listen, a [Clock] is the engine's time: it shows the day that the test gives it, and stands still until the
// test moves it.
//
// The engine removes an expired document before the next command. A MongoDB does so up to a minute later, or more. A [TTL] makes the
// engine as late, or lets it wait for the test.
//
// # Costs
//
// A client with an engine of its own takes about a tenth of a millisecond. [FaultMatrix] runs its operation three times for each way
// in which each write can go wrong; there are three to six. [Interleave] runs two operations once for each order, which are some
// hundreds. Keep what they run small. [Verify] does this for all operations, in two ways, and in two more for each scope: eight operations
// take some seconds. On a real server only a share of the cases runs. [WantIndexed] sends an explain, and the Need functions one command
// or a few.
//
// # Backends
//
// [Each], [FaultMatrix], [Interleave] and [Verify] run on the engine as the subtest "engine". Where MONGODB_URI is set, they also run
// on that server as the subtest "server", in databases of their own. A test that the server can't run is skipped with
// "server lacks: " and the feature's name, so that the tests of both can be counted against each other. Nothing else is skipped.
//
// A client of the engine has no network: NewClient and Start test no connection strings, hosts, TLS or compression. Listen tests
// connection strings, and neither TLS nor compression.
//
// # What the engine has
//
// It answers as MongoDB 8.0, as the primary of a replica set of one member: the commands, operators and stages that this library
// emits, and those that code around it commonly needs. Each exported method of the driver's Client, Database, Collection, Session,
// IndexView, Cursor and ChangeStream works, but for search indexes; so do GridFS, which is made of collections, sessions with
// transactions or with snapshots, retryable writes, causal consistency, change streams, and Client.BulkWrite. Indexes are enforced
// and used: unique, compound, multikey, sparse, partial, hashed, wildcard, geospatial, text and expiring ones, as explain shows. So
// are validators, by $jsonSchema with all of MongoDB's keywords but those of encryption, or by any other filter. $near without a
// greatest distance reads a geospatial index whole. There are views, capped collections with tailable cursors, clustered
// collections, and time series collections. The command configureFailPoint lets commands fail in the server, as in MongoDB's own
// tests, beside the faults of this package, which are the client's.
//
// Collations compare strings in commands, collections and indexes. Their locales are simple, cs, de, de_AT,
// de@collation=phonebook, en, en_US, es, fr, fr_CA, ga, hr, hu, id, is, it, lb, lt, ms, nl, pl, pt, ro, sk, sl, sv, sw, tr and zu.
// They have all options but these: maxVariable "space" with alternate "shifted"; caseLevel and caseFirst in cs,
// de@collation=phonebook, es, hr, hu, is, lt, pl, ro, sk, sl, sv and tr. Characters newer than Unicode 6.2 sort
// otherwise than on a server.
//
// OPERATORS.md lists the operators, and which packages emit them; a test holds that list equal to the engine's registries.
//
// # Limits
//
// What the engine doesn't know, or can't do, is an error that names it; nothing is ignored. A known operator, stage or option that isn't
// there is error 238, NotImplemented; a command, 115, CommandNotSupported, or 59, CommandNotFound. Refused are:
//
//   - collations whose locale isn't listed above, some of their options, and those of views, time series and wildcard indexes;
//     updates of time series collections that MongoDB 8.0 refuses too
//   - compound wildcard indexes, 2dsphere indexes of version 1 or of two fields, text indexes of versions 1 and 2
//   - text searches in other languages than english and none, $text and $geoNear in pipelines within others, $meta of
//     other kinds than textScore, and the CRS of strict winding
//   - the options min and max of find, and its returnKey by an index that isn't an ordered one, or that has a collation
//   - large events in parts, of change streams, whose history is 10,000 changes
//   - encryption, users and roles, a second member, and what serverStatus says of memory, locks and latencies; $collStats
//     and $indexStats tell sizes in memory, counts, and how many commands have read an index
//   - regular expressions with recursion, calls of groups, branch reset groups, verbs, callouts, \X or \C; dates without a format that
//     count from another ("tomorrow", "+1 day"); sines, cosines and tangents of decimals above 1E+45
//
// Percentiles are exact, where a server approximates those of many numbers. Powers, logarithms and sines are the numbers next to the
// exact results, where a server's may have another last digit.
//
// Four things are otherwise than on a server. Nothing fails over, and nothing is lost in a crash. Idle cursors and sessions don't
// time out. One write at a time runs, so that plans are the same each time, and speed says little about a server's. A transaction
// of which no connection is left is aborted after 5 seconds, where a server lets it hold its documents for the 60 seconds of its
// lifetime.
//
// # How it was verified
//
// The suites of this library run on the engine and on a real server, FerretDB over DocumentDB. A differential test gives both the
// same random documents, filters, updates, projections and pipelines, over every operator that the engine has, and compares the
// results and what is stored. Where the two differ, MongoDB's manual decides. Each way in which that server differs from the manual is
// a rule with a reason and a page.
//
// The driver's own specification tests run against the engine over TCP: CRUD, transactions, sessions, retryable reads and writes,
// change streams, indexes, commands, their monitoring, the Stable API and GridFS. internal/engine/specs runs them, and names each
// test that fails, with the reason.
//
// That server has no transactions, retryable writes, sessions, change streams, Client.BulkWrite, hashed or wildcard indexes, views,
// capped and time series collections, fail points or collations, nor a time at which documents expire. For these the engine follows
// MongoDB's manual, whose worked examples are among its tests, and the specification tests. Error codes are compared where code acts
// upon them: a duplicate key, a change of _id, any other error. The texts of errors are not.
package modeltest
