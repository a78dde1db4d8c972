// Package modeltest tests code that uses MongoDB, without a server to install. The
// official driver connects to a server in memory, the engine. The package shows the
// commands and the cost of an operation, makes it fail at any point, and runs it against
// another operation in every order.
//
// The code under test may use this library, or only the driver:
//
//	func TestTransfer(t *testing.T) {
//		client := modeltest.NewClient(t)      // a *mongo.Client, with its own empty engine
//		accounts := bank.New(client.Database("bank"))
//		…
//	}
//
// A test needs no clean-up, and may run in parallel.
//
// # Choosing
//
//	the test has                            use
//	a client as an argument                 NewClient; Start in an example or a program
//	a connection string                     Listen
//	a real server to pass on as well        Each, MONGODB_URI
//	a feature that this server lacks        NeedTransactions, NeedValidators,
//	                                        NeedChangeStreams, Need
//	a recording of a real server's answers  Replay, WithAnyOrder
//
//	the question is                         use
//	what was sent?                          NewMonitor, Monitor.Commands
//	what does it cost?                      WantCost, Measure
//	does an index serve it?                 WantIndexed
//	how do two documents differ?            Diff, IgnoreOrder
//	what is in the database?                Dump; Load fills it
//
//	the trouble is                          use
//	one failure at one command              NewFaults, Fail, FailInside, CutBefore,
//	                                        CutInside, CutAfter
//	one command late, or waiting            Delay, Hold
//	change streams that show changes late   WithChangeLag
//	documents that expire late              WithTTL
//	days that must pass, a given day        WithClock; testing/synctest
//	a crash at every command                FaultMatrix
//	two operations, in every order          Interleave
//	a sharded cluster                       WithShards
//	a whole model: all of this              Verify
//
// [Writes], [Reads], [Named], [On] and [Both] select commands for faults.
//
// # Time
//
// NewClient works inside a testing/synctest bubble, where sleeping takes no time and the
// engine uses the bubble's clock. Listen doesn't work there. Elsewhere, use a [Clock].
//
// # Costs
//
// [FaultMatrix], [Interleave] and [Verify] may run an operation hundreds of times.
//
// # Backends
//
// [FaultMatrix], [Interleave] and [Verify] run on the engine, and on a real server if
// MONGODB_URI is set: see [Each].
//
// # The engine
//
// The engine answers as MongoDB 8.0, as the primary of a replica set of one member. All
// methods of the driver's Client, Database, Collection, Session, IndexView, Cursor and
// ChangeStream work, except search indexes. It has GridFS, transactions, snapshots,
// retryable writes, causal consistency, change streams, bulkWrite, views, capped,
// clustered and time series collections, and the command configureFailPoint. Unique,
// compound, multikey, sparse, partial, hashed, wildcard, geospatial, text and TTL indexes
// are enforced, used and explained, and validators enforced. OPERATORS.md lists all
// operators.
//
// Collations have the simple locale and cs, de, de_AT, de@collation=phonebook, en, en_US,
// es, fr, fr_CA, ga, hr, hu, id, is, it, lb, lt, ms, nl, pl, pt, ro, sk, sl, sv, sw, tr
// and zu. They lack maxVariable "space" with alternate "shifted", and many lack caseLevel
// and caseFirst. Characters newer than Unicode 6.2 sort differently than on a server.
//
// # Limits
//
// The engine ignores nothing: an unsupported feature is an error that names it, with code
// 238, 115 or 59. It refuses
//
//   - other collations, and collations of views, time series and wildcard indexes
//   - updates of time series collections that MongoDB 8.0 refuses too
//   - compound wildcard indexes, 2dsphere indexes of version 1 or of two fields, text
//     indexes of versions 1 and 2
//   - text searches in languages other than english and none, $text and $geoNear in inner
//     pipelines, $meta except textScore, and the CRS of strict winding
//   - the options min and max of find, and returnKey by an unordered index or one with a
//     collation
//   - splitting large change events, and resuming after more than 10,000 changes
//   - encryption, users, roles, a second member, most of serverStatus
//   - regular expressions with recursion, group calls, branch reset groups, verbs,
//     callouts, \X or \C; relative dates ("tomorrow"); trigonometry of decimals above
//     1E+45
//
// Other differences: $near without a maximum distance reads the whole index. Percentiles
// are exact. Last digits of powers, logarithms and sines may differ. The engine has no
// failover, TLS, compression, and timeouts of idle cursors and sessions. Writes run one
// at a time. A transaction without a connection is aborted after 5 seconds, not 60.
package modeltest
