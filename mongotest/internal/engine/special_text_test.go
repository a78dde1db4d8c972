// These tests hold filters by $text and their indexes.

package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// articles are those of the manual's examples of $text.
func articles(t testing.TB) *mongo.Collection {
	c := collection(t)
	addIndex(t, c, `{"subject":"text"}`, nil)
	insert(t, c, `{"_id":1,"subject":"coffee","author":"xyz","views":50}`,
		`{"_id":2,"subject":"Coffee Shopping","author":"efg","views":5}`,
		`{"_id":3,"subject":"Baking a cake","author":"abc","views":90}`,
		`{"_id":4,"subject":"baking","author":"xyz","views":100}`,
		`{"_id":5,"subject":"Café Con Leche","author":"abc","views":200}`,
		`{"_id":6,"subject":"Сырники","author":"jkl","views":80}`,
		`{"_id":7,"subject":"coffee and cream","author":"efg","views":10}`,
		`{"_id":8,"subject":"Cafe con Leche","author":"xyz","views":10}`)
	return c
}

func TestText(t *testing.T) {
	c := articles(t)
	byID := options.Find().SetSort(doc(t, `{"_id":1}`))
	for _, x := range [][3]string{
		{"a word", `{"$text":{"$search":"coffee"}}`, "1 2 7 "},
		{"any of several words", `{"$text":{"$search":"bake coffee cake"}}`, "1 2 3 4 7 "},
		{"a phrase", `{"$text":{"$search":"\"coffee shop\""}}`, "2 "},
		{"a phrase and a word, which the phrase doesn't need", `{"$text":{"$search":"\"coffee shop\" \"leche\""}}`, ""},
		{"without a word", `{"$text":{"$search":"coffee -shop"}}`, "1 7 "},
		{"without a phrase", `{"$text":{"$search":"coffee -\"and cream\""}}`, "1 2 "},
		{"without a word alone", `{"$text":{"$search":"-shop"}}`, ""},
		{"a hyphen within a word", `{"$text":{"$search":"coffee-cake"}}`, "1 2 3 7 "},
		{"a stop word alone", `{"$text":{"$search":"and"}}`, ""},
		{"in another language, whose words are stems", `{"$text":{"$search":"lech","$language":"none"}}`, "5 8 "},
		{"whose words have no stems", `{"$text":{"$search":"coffee","$language":"none"}}`, ""},
		{"neither case nor diacritics", `{"$text":{"$search":"сы́рники CAFÉS"}}`, "5 6 8 "},
		{"case", `{"$text":{"$search":"Coffee","$caseSensitive":true}}`, "2 "},
		{"case of a phrase", `{"$text":{"$search":"\"Café Con Leche\"","$caseSensitive":true}}`, "5 "},
		{"case of a denied word", `{"$text":{"$search":"Coffee -shop","$caseSensitive":true}}`, "2 "},
		{"diacritics", `{"$text":{"$search":"CAFÉ","$diacriticSensitive":true}}`, "5 "},
		{"diacritics of a denied word", `{"$text":{"$search":"leches -cafés","$diacriticSensitive":true}}`, "8 "},
		{"with another condition", `{"author":"efg","$text":{"$search":"coffee"}}`, "2 7 "},
		{"in an $or with what an index serves", `{"$or":[{"$text":{"$search":"cake"}},{"_id":1}]}`, "1 3 "},
	} {
		wantSame(t, x[0], inOrder(t, c, x[1], byID), x[2])
	}
	wantPlan(t, c, "a search", `{"find":"things","filter":{"$text":{"$search":"coffee cake"}}}`,
		`TEXT_MATCH subject_text < FETCH < IXSCAN subject_text _fts[["cake", "cake"] ["coffe", "coffe"]]: 4 of 4 `+
			`keys, 4 docs`)
}

// TestTextScore has the scores that the manual shows.
func TestTextScore(t *testing.T) {
	c := articles(t)
	score := `{"_id":1,"score":{"$meta":"textScore"}}`
	sort := options.Find().SetSort(doc(t, `{"score":{"$meta":"textScore"},"_id":1}`)).SetProjection(doc(t, score))
	wantFound(t, c, `{"$text":{"$search":"coffee"}}`, sort, `{"_id":1,"score":1.0}`, `{"_id":2,"score":0.75}`,
		`{"_id":7,"score":0.75}`)
	wantFound(t, c, `{"$text":{"$search":"cake baking"}}`, sort, `{"_id":3,"score":1.5}`, `{"_id":4,"score":1.0}`)
	wantFound(t, c, `{"$text":{"$search":"leche"}}`,
		options.Find().SetProjection(doc(t, `{"subject":0,"views":0,"s":{"$meta":"textScore"}}`)),
		`{"_id":5,"author":"abc","s":0.6666666666666666}`, `{"_id":8,"author":"xyz","s":0.6666666666666666}`)
	run := func(stages ...string) string {
		var list []bson.D
		cur, err := c.Aggregate(ctx, stagesFrom(t, stages...))
		if err != nil {
			return readFound(t)(cur, err)
		}
		must(t, cur.All(ctx, &list))
		out := ""
		for _, d := range list {
			out += show(t, d) + " "
		}
		return out
	}
	search := `{"$match":{"$text":{"$search":"coffee cake"}}}`
	wantSame(t, "sorted at once",
		run(search, `{"$sort":{"score":{"$meta":"textScore"},"_id":1}}`,
			`{"$project":{"score":{"$meta":"textScore"}}}`),
		`{"_id":1,"score":1.0} {"_id":2,"score":0.75} {"_id":3,"score":0.75} {"_id":7,"score":0.75} `)
	wantSame(t, "sorted later",
		run(search, `{"$set":{"x":{"$meta":"textScore"}}}`, `{"$match":{"x":{"$lt":1}}}`, `{"$sort":{"_id":-1}}`,
			`{"$limit":2}`, `{"$sort":{"s":{"$meta":"textScore"},"_id":1}}`,
			`{"$project":{"x":1,"y":{"$meta":"textScore"}}}`),
		`{"_id":3,"x":0.75,"y":0.75} {"_id":7,"x":0.75,"y":0.75} `)
	wantSame(t, "grouped",
		run(search, `{"$group":{"_id":{"$meta":"textScore"},"n":{"$sum":{"$meta":"textScore"}}}}`,
			`{"$sort":{"_id":1}}`),
		`{"_id":0.75,"n":2.25} {"_id":1.0,"n":1.0} `)
	for _, x := range []struct {
		reason string
		stages []string
		code   int
	}{
		{"not first", []string{`{"$limit":1}`, search}, 17313},
		{"a score without a search", []string{`{"$project":{"s":{"$meta":"textScore"}}}`}, 40218},
		{"a score of groups", []string{search, `{"$group":{"_id":1}}`, `{"$set":{"s":{"$meta":"textScore"}}}`}, 40218},
		{"another kind", []string{search, `{"$set":{"s":{"$meta":"recordId"}}}`}, 238},
		{"no kind", []string{search, `{"$set":{"s":{"$meta":"x"}}}`}, 17308},
		{"in another pipeline", []string{`{"$unionWith":{"coll":"things","pipeline":[` + search + `]}}`}, 238},
	} {
		_, err := c.Aggregate(ctx, stagesFrom(t, x.stages...))
		wantCode(t, x.reason, err, x.code)
	}
}

func TestTextRefuses(t *testing.T) {
	c := articles(t)
	for _, x := range []struct {
		reason, filter string
		code           int
	}{
		{"no object", `{"$text":"x"}`, 2}, {"no search", `{"$text":{}}`, 4},
		{"no string", `{"$text":{"$search":1}}`, 14},
		{"another field", `{"$text":{"$search":"x","x":1}}`, 2},
		{"no such language", `{"$text":{"$search":"x","$language":"klingon"}}`, 2},
		{"a language of MongoDB's", `{"$text":{"$search":"x","$language":"es"}}`, 238},
		{"twice", `{"$and":[{"$text":{"$search":"x"}},{"$text":{"$search":"y"}}]}`, 2},
		{"in a $nor", `{"$nor":[{"$text":{"$search":"x"}}]}`, 2},
		{"in an $elemMatch", `{"a":{"$elemMatch":{"$text":{"$search":"x"}}}}`, 2},
		{"in an $or with what no index serves", `{"$or":[{"$text":{"$search":"x"}},{"author":"x"}]}`, 291},
	} {
		_, err := c.Find(ctx, doc(t, x.filter))
		wantCode(t, x.reason, err, x.code)
	}
	search := doc(t, `{"$text":{"$search":"x"}}`)
	_, err := c.Find(ctx, search, options.Find().SetHint("subject_text"))
	wantCode(t, "with a hint", err, 2)
	_, err = c.Find(ctx, search, options.Find().SetSort(doc(t, `{"$natural":1}`)))
	wantCode(t, "in natural order", err, 2)
	_, err = c.Database().Collection("nowhere").Find(ctx, search)
	wantCode(t, "without a collection", err, 27)
	must(t, c.Indexes().DropOne(ctx, "subject_text"))
	_, err = c.Find(ctx, search)
	wantCode(t, "without an index", err, 27)
}

func TestTextIndex(t *testing.T) {
	c := collection(t)
	addIndex(t, c, `{"kind":1,"title":"text","body":"text","at":-1}`,
		options.Index().SetWeights(doc(t, `{"title":10,"tags":5}`)).
			SetDefaultLanguage("none").SetLanguageOverride("idioma").SetName("words"))
	insert(t, c, `{"_id":1,"kind":"a","title":"running dogs","body":"the dogs","tags":["dogs","cats"]}`,
		`{"_id":2,"kind":"a","title":"running dogs","idioma":"english"}`, `{"_id":3,"kind":"b","other":"dogs"}`)
	var list []bson.D
	must(t, must1[*mongo.Cursor](t)(c.Indexes().List(ctx)).All(ctx, &list))
	wantSame(t, "listed", show(t, list[1]), `{"v":2,"key":{"kind":1,"_fts":"text","_ftsx":1,"at":-1},"name":"words",`+
		`"weights":{"body":1,"tags":5,"title":10},"default_language":"none","language_override":"idioma",`+
		`"textIndexVersion":3}`)
	score := options.Find().SetProjection(doc(t, `{"_id":1,"s":{"$meta":"textScore"}}`))
	wantFound(t, c, `{"kind":"a","$text":{"$search":"dogs"}}`, score, `{"_id":1,"s":13.75}`)
	wantFound(t, c, `{"kind":"a","$text":{"$search":"dog run"}}`, score, `{"_id":2,"s":15.0}`)
	_, err := c.Find(ctx, doc(t, `{"$text":{"$search":"dogs"}}`))
	wantCode(t, "without the field before the texts", err, 291)
	for _, x := range []struct {
		reason, d string
		code      int
	}{
		{"a language that is no text", `{"title":"x","idioma":1}`, 17261},
		{"an unknown language", `{"title":"x","idioma":"klingon"}`, 17262},

		{"a language of MongoDB's", `{"title":"x","idioma":"french"}`, 238},
	} {
		_, err := c.InsertOne(ctx, doc(t, x.d))
		wantCode(t, x.reason, err, x.code)
	}
	for _, x := range []struct {
		reason, keys string
		opts         *options.IndexOptionsBuilder
		code         int
	}{
		{"a second one", `{"x":"text"}`, nil, 67},
		{"fields that aren't adjacent", `{"x":"text","y":1,"z":"text"}`, nil, 67},
		{"a great weight", `{"x":"text"}`, options.Index().SetWeights(doc(t, `{"x":100000}`)), 67},
		{"an unknown language", `{"x":"text"}`, options.Index().SetDefaultLanguage("klingon"), 67},
		{"an old version", `{"x":"text"}`, options.Index().SetTextVersion(2), 238},
		{"with a place", `{"x":"text","y":"2dsphere"}`, nil, 67},
	} {
		_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc(t, x.keys), Options: x.opts})
		wantCode(t, x.reason, err, x.code)
	}
	must(t, c.Indexes().DropOne(ctx, "words"))
	addIndex(t, c, `{"$**":"text"}`, nil)
	wantSame(t, "every text",
		inOrder(t, c, `{"$text":{"$search":"dog"}}`, options.Find().SetSort(doc(t, `{"_id":1}`))), "1 2 3 ")
}
