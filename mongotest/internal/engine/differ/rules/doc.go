// Package rules says how the server at hand is known to differ from MongoDB. A difference that a rule explains is no
// fault of the engine; the runner in differ counts it under the rule's name and goes on.
//
// [Explain] is the door. It asks the rules in order and returns the name of the first that matches:
//
//	rule{
//		"$fill computes a value for a field that has one",         // what the server does
//		"MongoDB fills fields that are null or missing ($fill).",  // what MongoDB does, and the page that says so
//		func(x difference) bool {                                  // is this difference of that kind, in full?
//			return x.kind == outcome.OnlyServer && x.Uses("$fill") && x.failsFor(fillEach)
//		},
//	}
//
// How a rule decides (difference.go and counter.go have the steps, canon.go and models.go the functions for them):
//
//  1. By the kind of the difference, the error's code, and the operators in the command.
//  2. By canonical forms: sameAfter maps both outcomes through a function that removes one known difference, such as
//     the order of fields, and compares what remains.
//  3. By asking the engine for another command: sameFor changes the command so that the engine does what the server is
//     known to do, and compares the engine's new outcome with the server's. failsFor does the same for errors, and
//     because shows that the engine computes the command without an operator.
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
// [ReasonToWithhold] lists cases that aren't sent at all: they end the processes behind the server, and with them every
// other case that runs there meanwhile.
//
// The files are named by what the rules are about: find, aggregate, stage, update, value, number, place; later.go
// continues update.go and value.go.
package rules
