package grammar

// This file has text searches on the collection "words".

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// words are those of the collection "words", whose text index knows no language: none is the stem of another.
var words = []string{"red", "blue", "green", "gray", "reds", "a", "the"}

// text makes one to most words, some of them in upper case.
func (g *gen) text(most int) string {
	out := make([]string, 1+g.IntN(most))
	for i := range out {
		out[i] = pick(g, words...)
		if g.chance(15) {
			out[i] = strings.ToUpper(out[i])
		}
	}
	return strings.Join(out, pick(g, " ", " ", ", "))
}

// search is what $text looks for: words or a phrase, and sometimes a word that must not occur.
func (g *gen) search() string {
	out := g.text(3)
	if g.chance(20) {
		out = `"` + g.text(2) + `"`
	}
	// A word that no document may have.
	if g.chance(25) {
		out += " -" + pick(g, words...)
	}
	return out
}

// textOps are the operators of text search.
var textOps = map[string]func(g *gen) any{
	"$text": func(g *gen) any {
		out := tree.D("$search", g.search())
		if g.chance(20) {
			out = append(out, bson.E{Key: "$language", Value: "none"})
		}
		if g.chance(20) {
			out = append(out, bson.E{Key: "$diacriticSensitive", Value: true})
		}
		return out
	},
}

// findText finds documents by their words. They are sorted by _id, since scores differ between servers.
func findText(g *gen) cases.Case {
	docs := make([]bson.D, 2+g.IntN(4))
	for i := range docs {
		docs[i] = append(tree.D("_id", i+1, "w", g.text(4)), g.fields(2, 1)...)
		if g.chance(8) {
			docs[i][1].Value = g.value(0)
		}
	}
	filter := tree.D("$text", textOps["$text"](g))
	switch {
	// Another condition beside the search.
	case g.chance(30):
		filter = append(filter, g.clause(0))
	// The search below $and or $or: below the latter, the other branch is by _id, which has an index.
	case g.chance(20):
		filter = bson.D{{Key: pick(g, "$and", "$or"), Value: bson.A{filter, tree.D("_id", tree.D("$lte", 2))}}}
	}
	return cases.Case{
		Collection: "words", Docs: docs,
		Command: tree.D("find", "words", "filter", filter, "sort", tree.D("_id", 1)),
		Ordered: true,
	}
}
