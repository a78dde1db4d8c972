// Package differ compares the embedded engine with a real server. It makes random documents and random commands over
// every operator that the engine knows, runs them on both, and compares the replies and the stored documents byte for
// byte. All of it runs in tests: TestDifferential is the door, and nothing else imports these packages.
//
// A case goes through these steps:
//
//  1. Package grammar makes it. The case is a function of its seed and its number alone.
//  2. Package rules says whether it would end the server's processes. Such a case isn't run.
//  3. Package outcome runs it on both backends, in the same collections with the same indexes, and takes from the two
//     replies what must be equal.
//  4. If the outcomes differ, a rule may explain the difference in full. It is then counted under the rule's name.
//  5. Otherwise the case is shrunk: documents, fields and clauses are removed for as long as it differs in the same way
//     and no rule explains it. Differences with the same operators are reported once.
//
// The report prints a shrunk case in the form of the files under testdata. A person adds the reason and the result
// that MongoDB's documentation gives, and TestSaved replays the file on the engine from then on, without a server:
//
//	{
//	  "reason": "A path through an array needs an index ($pop, \"Dotted paths\").",
//	  "collection": "c",
//	  "docs": [{"_id": 1, "c": [1]}],
//	  "command": {"update": "c", "updates": [{"q": {}, "u": {"$pop": {"c.a": 1}}}]},
//	  "ordered": false,
//	  "want": {"code": 28, "reply": {"n": 0, "nModified": 0}, "state": [{"_id": 1, "c": [1]}]}
//	}
//
// The server at hand may itself differ from MongoDB. Where the two disagree, the manual
// (https://www.mongodb.com/docs/manual/reference/) decides what the engine does, and a rule of package rules says how
// the server deviates. DIFFERENCES.md lists all rules.
//
// The packages below this one know each other in one direction: tree (documents as values), then cases, then grammar
// and outcome, then rules.
package differ
