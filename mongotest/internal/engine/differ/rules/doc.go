// Package rules says how the server at hand is known to differ from MongoDB. The server at hand is the server that the
// engine is compared with: FerretDB over DocumentDB. A difference that a rule explains is no fault of the engine. The
// runner in package differ (run.go) counts it under the rule's name and goes on.
//
// [Explain] asks the rules in order and returns the name of the first that matches:
//
//	rule{
//		"$fill computes a value for a field that has one",         // what the server does
//		"MongoDB fills fields that are null or missing ($fill).",  // what MongoDB does, and the page that says so
//		func(x difference) bool {                                  // is this difference of that kind, in full?
//			return x.kind == outcome.OnlyServer && x.Uses("$fill") && x.failsFor(fillEach)
//		},
//	}
//
// A case is a command with the documents of its collections (package cases). Its outcome on one side is the error, the
// reply, and the documents that are stored afterwards (package outcome). The kind of a difference says what differs:
//
//	outcome.OnlyEngine, OnlyServer  one side fails
//	outcome.Codes                   both fail, with codes of different classes
//	outcome.States, Replies         the stored documents differ, or else the replies
//
// How a rule decides:
//
//  1. By the kind of the difference, the error's code and text, and facts about the command and its values (facts.go,
//     facts_pipeline.go, facts_outcome.go, kinds.go).
//  2. By canonical forms: sameAfter maps both outcomes through a function that removes one known difference, such as
//     the order of fields, and compares what remains (difference.go, canon.go, canon_scalar.go).
//  3. By asking the engine for another command. sameFor rewrites the command so that the engine does what the server is
//     known to do, and compares the engine's new outcome with the server's. failsFor does the same for errors.
//     failsBecauseOf shows that the engine computes the command without an operator (ask.go, rewrite_operator.go,
//     rewrite_stage.go).
//  4. By asking which fields depend on an operator: sameOutside compares all other fields (fields.go).
//
// The rules are in the files update, update_operator, find, value, expression, number, aggregate, stage, place and
// mixed. A comment in a rule shows a command of the kind: "on" is followed by a document, and the arrow by the result.
//
// Invariants:
//
//   - A rule explains a difference in full. A case that also differs in another way must not match, or a fault of the
//     engine would hide behind the rule. TestRulesAreNarrow tries thousands of made-up differences.
//   - A rule's name is unique. Its reason names the page of MongoDB's manual that decides
//     (https://www.mongodb.com/docs/manual/reference/), or says that the manual doesn't. TestTable writes both to
//     DIFFERENCES.md.
//   - Rules change copies. The outcomes and the case belong to the caller.
//   - The order matters for names alone: rules of two differences at once come last (mixed.go).
//
// [ReasonToWithhold] (withheld.go) lists cases that aren't sent at all: they end the processes behind the server, and
// with them every other case that runs there meanwhile.
package rules
