// Package grammar makes the random cases of the differential test: documents, and one command on them that MongoDB
// can answer in one way only.
//
// [Generate] is the door. A case follows from the seed and its number alone, so that a difference can be shown again
// by two numbers. Case 2 of seed 7 is the same on every machine and in every run of one version of this package; a
// change of the grammar makes other cases.
//
// The steps from a seed to a case:
//
//  1. verbs chooses a function for one command (command.go); what occurs several times in it is made more often.
//  2. That function makes documents (value.go), and the parts of its command: filters (filter.go), updates (update.go),
//     pipelines (stage*.go) with expressions in them (expr*.go), places (geo.go) and words (text.go).
//  3. An operator comes from a table. Its entry makes an operand, which may hold further operators; depth ends that.
//
// Invariants:
//
//   - Field names say what a field mostly holds: a is a number, b a string, c an array, d a document, e a date
//     ([kindOf]). Most operands then have the type that their operator takes, and the others test its errors.
//   - The result doesn't depend on luck. A stage that depends on the order of its input gets a $sort before it
//     ([pipe.stage]); an update of one document has one to choose from; $rand is only compared with 1.
//   - Maps are read in the order of their keys ([pickKey]), since Go's own order changes from run to run.
//   - All randomness comes from gen.Rand. An additional call shifts every later choice of the case.
//   - The tables hold all operators of the engine and nothing else: [restrict] removes what the engine lacks, and
//     TestGrammar fails if a table lacks an operator that the engine has.
//
// A new operator of the engine needs an entry in the table of its family. Its operand follows the syntax on the
// operator's page in the manual: https://www.mongodb.com/docs/manual/reference/operator/.
//
// The runner in differ and the tests of package rules call Generate. The runner's shrinking also reads [NeedsOrder]
// and [StableFields], to keep a smaller case as free of luck as the case was.
package grammar
