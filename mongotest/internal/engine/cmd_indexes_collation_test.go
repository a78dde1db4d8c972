// These tests hold which collation an index has, and which queries it then serves.

package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// readWinningPlan returns the names of the stages of a find's plan, the outermost first, and the collation of its
// index.
func readWinningPlan(t *testing.T, db *mongo.Database, find bson.D) (stages []string, index bson.M) {
	t.Helper()
	var rep struct {
		QueryPlanner struct {
			WinningPlan bson.M `bson:"winningPlan"`
		} `bson:"queryPlanner"`
	}
	if err := db.RunCommand(t.Context(), bson.D{{Key: "explain", Value: find},
		{Key: "verbosity", Value: "queryPlanner"}}).
		Decode(&rep); err != nil {
		t.Fatal(err)
	}
	for p := rep.QueryPlanner.WinningPlan; p != nil; {
		stages = append(stages, p["stage"].(string))
		next := p
		p = nil
		if inner, ok := next["inputStage"].(bson.D); ok {
			p = bson.M{}
			for _, e := range inner {
				p[e.Key] = e.Value
			}
		} else {
			index = next
		}
	}
	return stages, index
}

// https://www.mongodb.com/docs/manual/core/index-case-insensitive/
func TestManualCaseInsensitiveIndexes(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	fruit := fill(t, db, "fruit", "apple", "Apple", "APPLE")
	if _, err := fruit.Indexes().
		CreateOne(t.Context(), mongo.IndexModel{
			Keys:    bson.D{{Key: "s", Value: 1}},
			Options: options.Index().SetCollation(insensitive),
		}); err != nil {
		t.Fatal(err)
	}
	apple := bson.D{{Key: "s", Value: "apple"}}
	for _, c := range []struct {
		reason    string
		collation bson.D
		found     int64
		scan      string
	}{
		{"does not use index, finds one result", bson.D{{Key: "locale", Value: "simple"}}, 1, "COLLSCAN"},
		{
			reason:    "uses the index, finds three results",
			collation: bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}},
			found:     3, scan: "IXSCAN",
		},
		{
			reason:    "does not use the index, finds three results",
			collation: bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 1}},
			found:     3, scan: "COLLSCAN",
		},
	} {
		find := bson.D{{Key: "find", Value: "fruit"}, {Key: "filter", Value: apple},
			{Key: "collation", Value: c.collation}}
		if stages, _ := readWinningPlan(t, db, find); stages[len(stages)-1] != c.scan {
			t.Errorf("%s: %v", c.reason, stages)
		}
		var rep struct{ N int64 }
		if err := db.RunCommand(t.Context(), bson.D{
			{Key: "count", Value: "fruit"}, {Key: "query", Value: apple}, {Key: "collation", Value: c.collation},
		}).Decode(&rep); err != nil || rep.N != c.found {
			t.Errorf("%s: %d %v", c.reason, rep.N, err)
		}
	}

	if err := db.CreateCollection(t.Context(), "names",
		options.CreateCollection().SetCollation(insensitive)); err != nil {
		t.Fatal(err)
	}
	names := fill(t, db, "names", "Betsy", "BETSY", "betsy")
	if _, err := names.Indexes().CreateOne(t.Context(),
		mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	betsy := bson.D{{Key: "s", Value: "betsy"}}
	cur, err := names.Find(t.Context(), betsy, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	wantIDs(t, "inherits the default collation, finds three results", foundIDs(t, cur, err), 0, 1, 2)
	if stages, _ := readWinningPlan(t, db, bson.D{
		{Key: "find", Value: "names"}, {Key: "filter", Value: betsy},
	}); stages[len(stages)-1] != "IXSCAN" {
		t.Errorf("the index inherits the collation: %v", stages)
	}
	cur, err = names.Find(t.Context(), betsy, options.Find().SetCollation(&options.Collation{Locale: "en"}))
	wantIDs(t, "does not use the collection's default collation, finds one result", foundIDs(t, cur, err), 2)
}

// The complete document is shown wherever a collation is listed.
func TestCollationIsListed(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	if err := db.CreateCollection(t.Context(), "c",
		options.CreateCollection().SetCollation(&options.Collation{Locale: "fr_CA"})); err != nil {
		t.Fatal(err)
	}
	full :=
		`{"locale":"fr_CA","caseLevel":false,"caseFirst":"off","strength":{"$numberInt":"3"},"numericOrdering":false,` +
			`"alternate":"non-ignorable","maxVariable":"punct","normalization":false,"backwards":true,"version":"57.1"}`
	indexes := db.Collection("c").Indexes()
	for name, by := range map[string]*options.Collation{
		"own": insensitive, "inherited": nil, "simple": {Locale: "simple"},
	} {
		o := options.Index().SetName(name)
		if by != nil {
			o.SetCollation(by)
		}
		if _, err := indexes.CreateOne(t.Context(), mongo.IndexModel{
			Keys: bson.D{{Key: "s", Value: 1}}, Options: o,
		}); err != nil {
			t.Fatalf("indexes of one key and several collations: %v", err)
		}
	}
	list, err := indexes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for list.Next(t.Context()) {
		name, shown := list.Current.Lookup("name").StringValue(), list.Current.Lookup("collation").String()
		switch name {
		case "simple":
			if shown != "" {
				t.Errorf("the simple collation is listed: %s", shown)
			}
		case "own":
			if !strings.Contains(shown, `"locale": "en"`) || !strings.Contains(shown, "57.1") {
				t.Errorf("%s: %s", name, shown)
			}
		default:
			if strings.ReplaceAll(shown, " ", "") != full {
				t.Errorf("%s: %s", name, shown)
			}
		}
	}
	colls, err := db.ListCollections(t.Context(), bson.D{})
	if err != nil || !colls.Next(t.Context()) {
		t.Fatal(err)
	}
	if shown := colls.Current.Lookup("options", "collation").String(); strings.ReplaceAll(shown, " ", "") != full {
		t.Errorf("listCollections: %s", shown)
	}
	for reason, c := range map[string]struct {
		command string
		code    int
	}{
		"an index of a key that has several": {`{"dropIndexes":"c","index":{"s":1}}`, 181},
		"an _id index of another collation": {
			command: `{"createIndexes":"c","indexes":[{"key":{"_id":1},"name":"_id_2","collation":{"locale":"en"}}]}`,
			code:    2,
		},
		"an empty document for an index": {
			command: `{"createIndexes":"c","indexes":[{"key":{"x":1},"name":"x","collation":{}}]}`,
			code:    2,
		},
		"an empty document for a collection": {`{"create":"d","collation":{}}`, 40414},
		"a wrong type":                       {`{"find":"c","collation":"en"}`, 14},
	} {
		err := db.RunCommand(t.Context(), doc(t, c.command)).Err()
		var e mongo.CommandError
		if !errors.As(err, &e) || int(e.Code) != c.code {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// https://www.mongodb.com/docs/manual/core/index-unique/ with a collation: what is equal under it is a duplicate.
func TestCollationUnique(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	c := fill(t, db, "c", "Anna")
	unique := options.Index().SetUnique(true).SetCollation(insensitive).SetName("unique")
	if _, err := c.Indexes().
		CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: unique}); err != nil {
		t.Fatal(err)
	}
	_, err := c.InsertOne(t.Context(), bson.D{{Key: "s", Value: "ANNA"}})
	if !mongo.IsDuplicateKeyError(err) || !strings.Contains(err.Error(), `collation: { locale: "en"`) ||
		!strings.Contains(err.Error(), "CollationKey(0x") {
		t.Errorf("another case: %v", err)
	}
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "s", Value: "Ánna"}}); err != nil {
		t.Errorf("another letter: %v", err)
	}
	if _, err := c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 0}}, bson.D{{
		Key: "$set", Value: bson.D{{Key: "s", Value: "anna"}},
	}}); err != nil {
		t.Errorf("the same document: %v", err)
	}
	if err := db.CreateCollection(t.Context(), "d", options.CreateCollection().SetCollation(insensitive)); err != nil {
		t.Fatal(err)
	}
	d := db.Collection("d")
	if _, err := d.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "A"}}); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("an _id of another case: %v", err)
	}
	if n, err := d.CountDocuments(t.Context(), bson.D{{Key: "_id", Value: "A"}}); n != 1 || err != nil {
		t.Errorf("found by _id: %d %v", n, err)
	}
}

// A query has the same result by an index of its collation, by one of another, and by none.
func TestCollationIndexesAgree(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	r := rand.New(rand.NewPCG(5, 6))
	words := []any{
		"a", "A", "á", "Á", "ab", "AB", "b", "B", "10", "9", "", int32(1), nil, bson.A{"a", "B"}, bson.A{},
		bson.D{{Key: "x", Value: "A"}}, bson.D{{Key: "x", Value: "a"}},
	}
	word := func() any { return words[r.IntN(len(words))] }
	var docs []any
	for i := range 60 {
		docs = append(docs, bson.D{{Key: "_id", Value: int32(i)}, {Key: "s", Value: word()},
			{Key: "k", Value: int32(i % 3)}})
	}
	specs := []*options.Collation{{Locale: "simple"}, {Locale: "en"}, insensitive,
		{Locale: "en", NumericOrdering: true}}
	var colls []*mongo.Collection
	for i := range 1 + len(specs) {
		c := db.Collection(fmt.Sprint("c", i))
		if _, err := c.InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			for _, keys := range []bson.D{{{Key: "s", Value: 1}}, {{Key: "k", Value: 1}, {Key: "s", Value: -1}}} {
				if _, err := c.Indexes().
					CreateOne(t.Context(), mongo.IndexModel{
						Keys:    keys,
						Options: options.Index().SetCollation(specs[i-1]),
					}); err != nil {
					t.Fatal(err)
				}
			}
		}
		colls = append(colls, c)
	}
	for range 150 {
		op := []string{"$eq", "$gt", "$gte", "$lt", "$lte", "$in"}[r.IntN(6)]
		v := word()
		if op == "$in" {
			v = bson.A{word(), word()}
		}
		filter := bson.D{{Key: "s", Value: bson.D{{Key: op, Value: v}}}}
		if r.IntN(2) == 0 {
			filter = append(filter, bson.E{Key: "k", Value: int32(1)})
		}
		o := options.Find().SetCollation(specs[r.IntN(len(specs))])
		if r.IntN(2) == 0 {
			o.SetSort(bson.D{{Key: "s", Value: 1}, {Key: "_id", Value: 1}})
		} else {
			o.SetSort(bson.D{{Key: "_id", Value: 1}})
		}
		cur, err := colls[0].Find(t.Context(), filter, o)
		want := foundIDs(t, cur, err)
		for i, c := range colls[1:] {
			cur, err := c.Find(t.Context(), filter, o)
			if got := foundIDs(t, cur, err); !slices.Equal(got, want) {
				t.Fatalf("%v with the index of %v: %v, not %v", filter, specs[i], got, want)
			}
		}
	}
}

// Indexes that compare no strings under a collation refuse one, a default one too, unless the simple one is named.
// https://www.mongodb.com/docs/manual/reference/collation/
func TestCollationOfOtherIndexes(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetCollation(insensitive)))
	for _, c := range []struct {
		reason string
		keys   bson.D
		by     *options.Collation
		code   int
	}{
		{"text, by default", bson.D{{Key: "a", Value: "text"}}, nil, 67},
		{"2d", bson.D{{Key: "a", Value: "2d"}}, insensitive, 67},
		{"a wildcard", bson.D{{Key: "$**", Value: 1}}, nil, 238},
		{"text, simple", bson.D{{Key: "a", Value: "text"}}, &options.Collation{Locale: "simple"}, 0},
		{"a wildcard, simple", bson.D{{Key: "$**", Value: 1}}, &options.Collation{Locale: "simple"}, 0},
		{"2dsphere, by default", bson.D{{Key: "g", Value: "2dsphere"}}, nil, 0},
	} {
		o := options.Index()
		if c.by != nil {
			o.SetCollation(c.by)
		}
		_, err := db.Collection("c").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: c.keys, Options: o})
		if c.code == 0 {
			must(t, err)
			continue
		}
		wantCode(t, c.reason, err, c.code)
	}
}
