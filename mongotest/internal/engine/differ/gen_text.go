package differ

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// words are those of the collection "words", whose text index knows no language: none is the stem of another.
var words = []string{"red", "blue", "green", "gray", "reds", "a", "the"}

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

// search is what $text looks for: words, a phrase, and words that don't occur.
func (g *gen) search() string {
	out := g.text(3)
	if g.chance(20) {
		out = `"` + g.text(2) + `"`
	}
	if g.chance(25) {
		out += " -" + pick(g, words...)
	}
	return out
}

// textOps are the operators of text search.
var textOps = map[string]func(g *gen) any{
	"$text": func(g *gen) any {
		out := d("$search", g.search())
		if g.chance(20) {
			out = append(out, bson.E{Key: "$language", Value: "none"})
		}
		if g.chance(20) {
			out = append(out, bson.E{Key: "$diacriticSensitive", Value: true})
		}
		return out
	},
}

// findText finds documents by their words.
func findText(g *gen) Case {
	docs := make([]bson.D, 2+g.IntN(4))
	for i := range docs {
		docs[i] = append(d("_id", i+1, "w", g.text(4)), g.fields(2, 1)...)
		if g.chance(8) {
			docs[i][1].Value = g.value(0)
		}
	}
	filter := d("$text", textOps["$text"](g))
	switch {
	case g.chance(30):
		filter = append(filter, g.clause(0))
	case g.chance(20):
		filter = bson.D{{Key: pick(g, "$and", "$or"), Value: bson.A{filter, d("_id", d("$lte", 2))}}}
	}
	return Case{
		Collection: "words", Docs: docs,
		Command: d("find", "words", "filter", filter, "sort", d("_id", 1)),
		Ordered: true,
	}
}
