// Package schema declares what documents look like, and how they change: validators from Go types, enforced by the server and
// checked without one, versions of documents that are read as the newest whatever is stored, how long they are kept, and numbers that
// other formats don't hold.
//
// # Choosing
//
//	What documents must look like, whoever writes them        [Of]
//	Forms of one collection's documents, told by a tag        [Of], [As]
//	Documents whose form changed, and changes again           [Versions]
//	Documents that expire, or are archived first              [Expiry]
//	Numbers that travel as JSON                               [Number]
//
// # Tasks
//
//   - See the $jsonSchema of a type: [Schema.JSONSchema]; what it says nothing about: [Schema.Opaque]
//   - Say more about the documents: [Spec]; about a field: [Field]
//   - Find what doesn't conform, and why: the check of a [Schema], [Schema.ValidateRaw]
//   - Refuse a document before it is sent: [Schema.Validate]
//   - Have the server refuse it: [Schema.Validation], its Ensure; see what it enforces: its Diff
//   - Read documents of every version as the newest, and store new ones: the collection itself, once [NewVersions] is declared
//     beside it; a document at hand: [Versions.Decode]
//   - Change one and bring it up: [Versions.Edit], [Versions.Save], [Versions.Upgrade]
//   - Bring all of them up: [Versions.Migrate]; see how far that is: [Versions.Counts], [Versions.Outdated]
//   - Archive what has expired, and restore it: [Expiry.Archive], [Expiry.Restore]; hide it: [Expiry.Live]; see what waits:
//     [Expiry.Expired]; a moment of its own for a document: [Expiry.Until]; what is in both: [Expiry.Both],
//     [Expiry.Discard]
//   - See which fields of a type lose digits in JSON: [NumberRisks]; whole documents: [DocumentJSON], [DocumentFromJSON]
//
// # Costs
//
// A validator costs the server a look at each document that is written, and no command. The check of a Schema reads the whole
// collection. The Ensure of a [model.Validation] sends one command where nothing differs. Reading an older version costs its steps in Go, and
// no command; bringing a document up costs a read and a write of it, once. Archiving is 3 commands to a batch of 500 documents, a
// restore 3.
//
// # Consistency
//
// A validator holds for what is written from the moment it is in place. What is there before stays, until it is changed (the
// level "strict" then refuses the change, "moderate" doesn't). Programs of different versions that each ensure their own schema take turns.
//
// A document is brought up in one atomic update, by a filter that holds what was read: what others write meanwhile, old code too,
// is never overwritten, and fields that no type knows stay. While old code runs, a version may add fields and not take any away
// (expand); the next takes them away, when none is left that reads them (contract). A validator that is in place must let both
// through: ensure the newer one before the first document is brought up, with the level "moderate" until the last is.
//
// An archive gets its copy first; a document is deleted only as it was read, and what is restored has another Version, if there are
// any, than was ever read. A cut leaves documents in both collections, and the next run finishes them. The server deletes what has
// expired up to a minute late, or later.
//
// # Limits
//
// $jsonSchema has no references: a type that holds itself is described once. Patterns are those that both Go's engine and the
// server's have. Servers that aren't MongoDB may lack keywords: DocumentDB has no additionalProperties, which maps and Closed
// need, and enforces no validator.
//
// Queries see documents as they are stored: a condition on a field that a step makes finds only those that were brought up. An array
// whose elements hold fields that their type doesn't know must keep its length in a step. A document that is brought up is sent with
// what was read, so that one of more than 8 MiB may not fit. There are no steps back: a program reads no newer version than its own.
//
// An archived document holds its earlier states, of which there are as many as times that it came in another one: give each document
// an _id of its own. What isn't archived within the Margin is deleted and lost; without a Version a document must leave 1 KiB of its 16
// MiB to the archive. A [Number] of more than 34 digits is stored as a string, and JSON doesn't keep a number's BSON type.
package schema
