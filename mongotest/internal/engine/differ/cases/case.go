package cases

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// Case is one command on a few documents.
type Case struct {
	Collection string   // the collection that holds Docs; one of collections
	Docs       []bson.D // inserted one by one, in this order
	Other      []bson.D // what the collection "o" holds, for stages that read another one
	Command    bson.D   // run as it stands
	Ordered    bool     // the order of the documents returned is determined by the command
}

// Collections are the collections of every database that cases run in, with their indexes.
var Collections = map[string][]bson.D{
	"c":       nil,
	"o":       nil,
	"out":     nil,
	"u_a":     {tree.D("key", tree.D("a", 1), "name", "a", "unique", true)},
	"u_ab":    {tree.D("key", tree.D("a", 1, "b", -1), "name", "ab", "unique", true)},
	"u_deep":  {tree.D("key", tree.D("d.a", 1), "name", "deep", "unique", true)},
	"u_spars": {tree.D("key", tree.D("b", 1), "name", "sparse", "unique", true, "sparse", true)},
	"u_part": {tree.D("key", tree.D("a", 1), "name", "part", "unique", true,
		"partialFilterExpression", tree.D("b", tree.D("$exists", true)))},
	"geo":   {tree.D("key", tree.D("g", "2dsphere"), "name", "g")},
	"words": {tree.D("key", tree.D("w", "text"), "name", "w", "default_language", "none")},
}

// Verb is the command's name, such as "find".
func (c Case) Verb() string { return c.Command[0].Key }

// Get is the value of one of the command's fields, nil if it has none.
func (c Case) Get(key string) any {
	for _, e := range c.Command {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Writes reports whether the command can change a collection.
func (c Case) Writes() bool {
	switch c.Verb() {
	case "find", "count", "distinct":
		return false
	case "aggregate":
		return HasStage(c, "$out") || HasStage(c, "$merge")
	}
	return true
}

// HasStage reports whether a stage of the aggregation, at its top level, is of that name.
func HasStage(c Case, name string) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	for _, s := range stages {
		if s, ok := s.(bson.D); ok && len(s) == 1 && s[0].Key == name {
			return true
		}
	}
	return false
}
