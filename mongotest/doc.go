// Package mongotest is a MongoDB for unit tests. The server, called the engine, runs in
// memory, in the test's process. The code under test uses the official Go driver, and
// nothing else:
//
//	func TestTransfer(t *testing.T) {
//		client := mongotest.NewClient(t) // a *mongo.Client, with an empty engine of its own
//		accounts := bank.New(client.Database("bank"))
//		…
//	}
//
// There is nothing to install, to start or to clean up. Tests can run in parallel, because
// each client has an engine of its own. A new engine takes less than a millisecond.
//
// # Choosing
//
//	the test has                            use
//	a client as an argument                 NewClient; Start in an example or a program
//	a connection string                     Listen
//	a real server to run on too             Each, MONGODB_URI
//	a feature that some servers lack        Need
//	a recording of a real server's answers  Replay
//
//	the question is                         use
//	what was sent, what did it cost?        NewMonitor, Monitor.Commands, Monitor.Cost
//	how do two documents differ?            Diff, IgnoreOrder
//	what is in the database?                Dump; Load fills it
//
//	the trouble is                          use
//	one failure at one command              NewFaults, Fail, FailInside, CutBefore,
//	                                        CutInside, CutAfter
//	one command late, or waiting            Delay, Hold
//	a secondary that lags                   Faults.Lag
//	change streams that show changes late   Settings.ChangeLag
//	documents that expire late              TTL
//	days that must pass, a given day        Clock; testing/synctest
//	a sharded cluster                       Shards
//	a server without transactions           Settings.Standalone
//	an older server                         Settings.Version
//
// [Writes], [Named], [On] and [Both] select commands for faults.
//
// Package model/modeltest of this module has more tests: a crash at every write of an
// operation, two operations in every order of their commands, and the index that serves a
// query. Its functions FaultMatrix, Interleave and WantIndexed work without a model too.
//
// # A real server
//
// [Each] runs a test on the engine and, if MONGODB_URI is set, on the server with
// this connection string:
//
//	func TestTransfer(t *testing.T) {
//		mongotest.Each(t, func(t *testing.T, db *mongo.Database) { … })
//	}
//
//	go test ./...                                            # on the engine
//	MONGODB_URI=mongodb://localhost:27017/ go test ./...     # on the engine and there
//
// # Time
//
// In a testing/synctest bubble, the engine of [NewClient] uses the bubble's clock.
// [Listen] doesn't work in a bubble. Outside a bubble, use a [Clock].
//
// # What it supports
//
// The engine answers like a MongoDB 8.0 replica set with one member. The driver's methods
// work, except for search indexes and encryption. [OPERATORS.md] lists all operators.
//
//	features     GridFS, transactions, snapshots, retryable writes, causal consistency,
//	             change streams, bulkWrite, views, validators, configureFailPoint
//	collections  plain, capped, clustered, time series
//	indexes      unique, compound, multikey, sparse, partial, hashed, wildcard,
//	             geospatial, text, TTL: enforced, used and explained
//	collations   simple, cs, de, de_AT, de@collation=phonebook, en, en_US, es, fr, fr_CA,
//	             ga, hr, hu, id, is, it, lb, lt, ms, nl, pl, pt, ro, sk, sl, sv, sw, tr,
//	             zu
//
// # Limits
//
// An unsupported feature gives an error with code 238, 115 or 59:
//
//	collations           other locales, maxVariable "space" with alternate "shifted",
//	                     caseLevel and caseFirst of some locales; collations of views,
//	                     time series and wildcard indexes
//	indexes              compound wildcard, 2dsphere of version 1 or of two fields, text
//	                     of versions 1 and 2
//	text and places      languages other than english and none, $text and $geoNear in
//	                     inner pipelines, $meta except textScore, the strictwinding
//	                     CRS
//	find                 min and max; returnKey by a hashed, wildcard, geospatial or text
//	                     index, or an index with a collation
//	change streams       splitting large events, resuming after more than 10,000 changes
//	administration       encryption, users, roles, a second member, most of serverStatus
//	regular expressions  recursion, group calls, branch reset groups, verbs, callouts,
//	                     \X, \C
//	expressions          relative dates ("tomorrow"), trigonometry of decimals above 1E+45
//
// These results differ from a server's:
//
//	collations           characters newer than Unicode 6.2 sort differently
//	$near                without a maximum distance, it reads the whole index
//	numbers              percentiles are exact; last digits of powers, logarithms and
//	                     sines may differ
//	writes               run one at a time
//	transactions         aborted 5 seconds after the client disconnects, not 60
//	missing              failover, TLS, compression, timeouts of idle cursors and sessions
//
// [OPERATORS.md]: https://github.com/docmodel/docmodel/blob/main/mongotest/OPERATORS.md
package mongotest
