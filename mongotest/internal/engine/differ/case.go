package differ

import (
	"fmt"
	"os"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Case is one command on a few documents.
type Case struct {
	Collection string   // the collection that holds Docs; one of collections
	Docs       []bson.D // inserted one by one, in this order
	Other      []bson.D // what the collection "o" holds, for stages that read another one
	Command    bson.D   // run as it stands
	Ordered    bool     // the order of the documents returned is determined by the command
}

// collections are the collections of every database that cases run in, with their indexes.
var collections = map[string][]bson.D{
	"c":       nil,
	"o":       nil,
	"out":     nil,
	"u_a":     {d("key", d("a", 1), "name", "a", "unique", true)},
	"u_ab":    {d("key", d("a", 1, "b", -1), "name", "ab", "unique", true)},
	"u_deep":  {d("key", d("d.a", 1), "name", "deep", "unique", true)},
	"u_spars": {d("key", d("b", 1), "name", "sparse", "unique", true, "sparse", true)},
	"u_part": {d("key", d("a", 1), "name", "part", "unique", true,
		"partialFilterExpression", d("b", d("$exists", true)))},
	"geo":   {d("key", d("g", "2dsphere"), "name", "g")},
	"words": {d("key", d("w", "text"), "name", "w", "default_language", "none")},
}

// verb is the command's name, such as "find".
func (c Case) verb() string { return c.Command[0].Key }

// get is the value of one of the command's fields, nil if it has none.
func (c Case) get(key string) any {
	for _, e := range c.Command {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// writes reports whether the command can change a collection.
func (c Case) writes() bool {
	switch c.verb() {
	case "find", "count", "distinct":
		return false
	case "aggregate":
		return hasStage(c, "$out") || hasStage(c, "$merge")
	}
	return true
}

func hasStage(c Case, name string) bool {
	stages, _ := c.get("pipeline").(bson.A)
	for _, s := range stages {
		if s, ok := s.(bson.D); ok && len(s) == 1 && s[0].Key == name {
			return true
		}
	}
	return false
}

// saved is a case as testdata holds it, with what MongoDB's documentation says comes of it.
type saved struct {
	Reason     string   `bson:"reason"` // what the case shows, and the page that says so
	Collection string   `bson:"collection"`
	Docs       []bson.D `bson:"docs"`
	Other      []bson.D `bson:"other,omitempty"`
	Command    bson.D   `bson:"command"`
	Ordered    bool     `bson:"ordered"`
	Want       *Outcome `bson:"want,omitempty"`
}

// format writes a case in the form of the files under testdata.
func (c Case) format(want *Outcome) string {
	b, err := bson.MarshalExtJSONIndent(saved{
		Collection: c.Collection, Docs: c.Docs, Other: c.Other, Command: c.Command, Ordered: c.Ordered, Want: want,
	}, true, false, "", "  ")
	if err != nil {
		return fmt.Sprintf("%#v (%v)", c, err)
	}
	return string(b)
}

// load reads a file under testdata.
func load(name string) (Case, saved, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return Case{}, saved{}, err
	}
	var s saved
	if err := bson.UnmarshalExtJSON(text, false, &s); err != nil {
		return Case{}, saved{}, err
	}
	return Case{s.Collection, s.Docs, s.Other, s.Command, s.Ordered}, s, nil
}

// d makes a document of alternating keys and values.
func d(pairs ...any) bson.D {
	doc := make(bson.D, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1]
		if n, ok := v.(int); ok {
			v = int32(n)
		}
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: v})
	}
	return doc
}
