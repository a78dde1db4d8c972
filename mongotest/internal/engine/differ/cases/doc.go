// Package cases declares the unit of the differential test: one command on a few documents, in one of a fixed set of
// collections.
//
// A case in the form in which it is printed and saved, as extended JSON:
//
//	{
//	  "collection": "c",
//	  "docs": [{"_id": 1, "a": 5}, {"_id": 2, "a": [1, 2]}],
//	  "other": [{"_id": 1, "b": 5}],
//	  "command": {"find": "c", "filter": {"a": {"$gt": 1}}, "sort": {"_id": 1}},
//	  "ordered": true
//	}
//
// To run a case, a backend empties all collections, inserts docs into the collection and other into "o", and sends
// the command. Package outcome does that on the engine and on a server.
//
// Invariants:
//
//   - A case is complete. It depends on no clock, on no earlier case and on no state of the backend, so it can be run
//     again, saved, and shrunk.
//   - A case is a value, but its slices are shared by copies. Whoever changes a case replaces the slice instead of
//     writing into it; [Case.MapCommand] does.
//   - The name of the command is the first element, as in MongoDB's wire protocol.
//   - An update has one statement. [Case.Statement] and [Case.Change] rely on that.
//   - ordered is true only if the command determines the order of the documents that it returns. Otherwise they are
//     sorted before they are compared (outcome.SortReply).
//
// The indexes of [Collections] are what a case can't say itself: most collections have none but _id's, the others
// have one unique index of each kind, one 2dsphere index or one text index
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/).
//
// The methods of a Case answer questions that the rules ask of a command: its filter, its update, whether an operator
// occurs in it. Package grammar makes cases; outcome, rules and the runner in differ read them.
package cases
