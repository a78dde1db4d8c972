package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A union is the collection and the pipeline of a $unionWith stage.
type union struct {
	collection string
	pipeline   mongo.Pipeline
}

// splitUnions splits off the $unionWith stages that end a pipeline. MongoDB refuses
// $unionWith in a transaction, so each of them runs there as a command of its own. If a
// $unionWith is left in the first part, splitUnions returns an error.
func splitUnions(collection string, pipeline mongo.Pipeline) (mongo.Pipeline, []union, error) {
	var unions []union
	end := len(pipeline)
	for ; end > 0; end-- {
		u, ok := unionOf(pipeline[end-1])
		if !ok {
			break
		}
		unions = append(unions, u)
	}
	if slices.ContainsFunc(pipeline[:end], func(s bson.D) bool { return len(s) > 0 && s[0].Key == "$unionWith" }) {
		return nil, nil, &ValueError{
			Collection: collection, Field: "$unionWith",
			Reason: "isn't possible in a transaction if other stages follow it: run the pipeline outside the transaction",
		}
	}
	slices.Reverse(unions)
	return pipeline[:end:end], unions, nil
}

// unionOf returns what a stage reads, if it is a $unionWith of a collection.
func unionOf(stage bson.D) (u union, ok bool) {
	if len(stage) != 1 || stage[0].Key != "$unionWith" {
		return u, false
	}
	if name, ok := bsondoc.String(stage[0].Value); ok {
		return union{name, mongo.Pipeline{}}, true
	}
	args, ok := bsondoc.Document(stage[0].Value)
	u.collection, _ = bsondoc.String(bsondoc.Value(args, "coll"))
	u.pipeline = mongo.Pipeline{}
	parts := 1
	if list := bsondoc.Value(args, "pipeline"); ok && list != nil {
		u.pipeline, ok = bsondoc.Pipeline(list)
		parts = 2
	}
	return u, ok && u.collection != "" && len(args) == parts
}
