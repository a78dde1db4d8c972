package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Pipeline returns the same join as one $lookup by the server, over the parents that match a filter: with a filter on the
// children a second $lookup tells missing ids from filtered ones. Ties of a Sort come in no promised order here; end the
// sort in a field that tells children apart. A Strict join is refused: a pipeline reports, and can't fail.
//
// Cost: one command; the server looks each parent's ids up anew, though other parents hold them too, and orders each
// list in the square of its length. A parent and its children together must fit 16 MiB. A Sort needs MongoDB 5.2.
func (j *Join[P, PK, C, CK]) Pipeline(filter bson.D) model.Aggregate[Joined[P, C, CK]] {
	var fields bson.D
	if j.spec.Fields {
		fields = model.Project[C](j.children.Find(nil)).Projection
	}
	p := joinPipeline{&j.spec, j.parents.Name(), j.children.Name(), j.path, j.ids.Field(), fields}
	a := model.AggregateAs[Joined[P, C, CK]](j.parents, p.stages(filter))
	p.complete(&a.Aggregation)
	return a
}

// joinPipeline is what of a [Join]'s pipeline doesn't depend on its types.
type joinPipeline struct {
	spec              *JoinSpec
	parents, children string
	path              string
	ids               model.Field
	fields            bson.D // the projection of the children, if they are asked for some fields only
}

func (j *joinPipeline) stages(filter bson.D) mongo.Pipeline {
	stages := matching(filter,
		nested("parent"),
		bson.D{{Key: "$set", Value: bson.D{{Key: "ids", Value: j.idList()}}}},
		j.lookup("children", j.childStages()),
	)
	known := "$children._id"
	if len(j.spec.Filter) > 0 {
		known = "$known._id"
		stages = append(stages, j.lookup("known", mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}}))
	}
	return append(stages, bson.D{{Key: "$project", Value: bson.D{
		{Key: "parent", Value: 1},
		{Key: "children", Value: j.ordered()},
		{Key: "missing", Value: distinct(except("$ids", known))},
	}}})
}

func (j *joinPipeline) complete(a *model.Aggregation) {
	a.Options = j.spec.Options
	if j.spec.Strict && a.Err == nil {
		a.Err = &model.ValueError{Collection: j.parents, Field: "Strict", Reason: "a pipeline can't fail for missing ids: look at Missing, or use Load"}
	}
}

// idList is the list of a parent's ids as an expression, whatever is stored: a list, one id, null or nothing.
func (j *joinPipeline) idList() any {
	path := "$parent." + j.path
	if f := &j.ids; !f.Open && f.Arrays > 0 {
		return bson.D{{Key: "$ifNull", Value: bson.A{path, bson.A{}}}}
	}
	one := bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$ifNull", Value: bson.A{path, nil}}}, nil}}}, bson.A{}, bson.A{path},
	}}}
	return bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: "$isArray", Value: path}}, path, one}}}
}

func (j *joinPipeline) lookup(as string, inner mongo.Pipeline) bson.D {
	args := bson.D{
		{Key: "from", Value: j.children}, {Key: "localField", Value: "ids"}, {Key: "foreignField", Value: "_id"},
	}
	if len(inner) > 0 {
		args = append(args, bson.E{Key: "pipeline", Value: inner})
	}
	return bson.D{{Key: "$lookup", Value: append(args, bson.E{Key: "as", Value: as})}}
}

func (j *joinPipeline) childStages() mongo.Pipeline {
	stages := matching(j.spec.Filter)
	if j.spec.Fields {
		stages = append(stages, bson.D{{Key: "$project", Value: j.fields}})
	}
	return stages
}

// ordered is the list of children in the order of the ids, duplicates kept, then sorted and cut.
func (j *joinPipeline) ordered() any {
	list := inOrder("$ids", "children")
	if len(j.spec.Sort) > 0 {
		list = bson.D{{Key: "$sortArray", Value: bson.D{{Key: "input", Value: list}, {Key: "sortBy", Value: j.spec.Sort}}}}
	}
	if j.spec.Limit > 0 {
		list = bson.D{{Key: "$slice", Value: bson.A{list, j.spec.Limit}}}
	}
	return list
}

// inOrder is the expression that puts documents into the order of a list of their ids; ids without a document are passed
// over.
func inOrder(ids any, docs string) bson.D {
	found := bson.D{{Key: "$filter", Value: bson.D{
		{Key: "input", Value: ids}, {Key: "as", Value: "id"},
		{Key: "cond", Value: bson.D{{Key: "$in", Value: bson.A{"$$id", "$" + docs + "._id"}}}},
	}}}
	doc := bson.D{{Key: "$arrayElemAt", Value: bson.A{
		"$" + docs, bson.D{{Key: "$indexOfArray", Value: bson.A{"$" + docs + "._id", "$$id"}}},
	}}}
	return bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: found}, {Key: "as", Value: "id"}, {Key: "in", Value: doc}}}}
}

// except is the expression for the ids that are not among others, in order.
func except(ids, others any) bson.D {
	return bson.D{{Key: "$filter", Value: bson.D{
		{Key: "input", Value: ids}, {Key: "as", Value: "id"},
		{Key: "cond", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{"$$id", others}}}}}}},
	}}}
}

// distinct is the expression for a list without its later duplicates.
func distinct(list any) bson.D {
	return bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: list}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$in", Value: bson.A{"$$this", "$$value"}}}, "$$value",
			bson.D{{Key: "$concatArrays", Value: bson.A{"$$value", bson.A{"$$this"}}}},
		}}}},
	}}}
}
