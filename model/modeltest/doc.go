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
//	one failure at one place                               NewFaults, Fail, CutBefore, CutInside, CutAfter
//	one command late, or waiting for the test              Delay, Hold
//	a crash at every place                                 FaultMatrix
//	two operations at a time, in every order               Interleave
//	a whole database as text, and back                     Dump, Load
//
// Monitors and faults are no part of the engine: they work with the client of any server.
//
// # Backends
//
// [Each], [FaultMatrix] and [Interleave] run on the engine as the subtest "engine", and where MONGODB_URI is set, on that
// server as the subtest "server", in databases of their own. What is left out there is skipped with "server lacks: " and
// the feature's name, so that the tests of both can be counted against each other. Nothing else is skipped.
//
// # Time
//
// An engine works inside a testing/synctest bubble, where a sleep of days takes no time: for what expires, and for time
// buckets.
//
// # What the engine does
//
// It answers as MongoDB 7.0, as the primary of a replica set of one member: the commands, operators and stages that this
// library emits, and those that code around it commonly needs. What it doesn't know is an error that names it; nothing is
// ignored. Indexes are enforced and used: unique, compound, multikey, partial and expiring ones. So are validators, by
// $jsonSchema with all of MongoDB's keywords but those of encryption, or by any other filter.
//
// OPERATORS.md lists the operators, and which packages emit them; a test holds that list equal to the engine's registries.
//
// It is verified: the suites of this library run on it and on a real server, and a differential test gives both the same
// random filters, updates and pipelines and compares what comes back. Not compared with a server, because the one at hand
// has none: transactions, enforced validators, change streams. They follow MongoDB's documentation. A change stream goes back
// 10,000 changes.
package modeltest
