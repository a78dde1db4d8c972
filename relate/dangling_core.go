package relate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// dangling is what of a [Dangling] doesn't depend on its types.
type dangling struct {
	docs, targets string // collections
	path          string
	ref           Reference
	repair        RepairPolicy
	by            any   // what replaces an id
	none          []any // values that stand for no reference

	missingIn func(mongo.Pipeline) model.Aggregate[MissingID] // the pipeline over the documents
}

//go:noinline
func (d *dangling) fail(problem, remedy string) {
	panic(&model.DeclarationError{Problem: problem, Place: "NewDangling of " + d.docs + "." + d.path, Remedy: remedy})
}

// declare is told how the empty id is stored, and whether it is refused as one.
func (d *dangling) declare(empty any, encoding, refused error, spec []DanglingSpec) {
	if problem, remedy := d.ref.check(); d.ref.deep {
		d.fail(problem, remedy)
	}
	d.none = []any{nil}
	if encoding == nil && empty != nil && refused != nil {
		d.none = append(d.none, empty)
	}
	switch {
	case len(spec) > 1:
		d.fail("more than one DanglingSpec", "give one")
	case len(spec) == 1:
		d.specify(spec[0])
	}
}

func (d *dangling) specify(spec DanglingSpec) {
	if spec.Repair > ReplaceIDs {
		d.fail("no such RepairPolicy", "use one of the constants")
	}
	d.repair = spec.Repair
	switch {
	case spec.List == "":
	case !d.ref.open:
		d.fail("List is given though the type tells", "leave List empty")
	case spec.List != d.ref.path && !strings.HasPrefix(d.ref.path, spec.List+"."):
		d.fail(fmt.Sprintf("List %q is not on the path", spec.List), "name the path itself, or one above it")
	default:
		d.ref.list, d.ref.open = spec.List, false
		d.ref.key = strings.TrimPrefix(strings.TrimPrefix(d.ref.path, spec.List), ".")
	}
	switch {
	case spec.Repair != ReplaceIDs && spec.ReplaceBy != nil:
		d.fail("ReplaceBy is given, and nothing is replaced", "set Repair to ReplaceIDs, or leave ReplaceBy empty")
	case spec.Repair != ReplaceIDs:
		return
	case d.ref.link:
		d.fail("the id of a Link can't be replaced", "detach it, or delete the referring document: a Link belongs to the operation that made it")
	}
}

// replacing fails unless what replaces an id is one.
//
//go:noinline
func (d *dangling) replacing(ok bool, by any, want reflect.Type) {
	if !ok {
		d.fail(fmt.Sprintf("ReplaceBy is %T, not %s", by, want), "give an id of "+d.targets)
	}
}

//go:noinline
func (d *dangling) replaceBy(by any, err error) {
	if err != nil {
		d.fail(err.Error(), "give an id that a document can have")
	}
	d.by = by
}

// find is the pipeline of the references that lead nowhere.
func (d *dangling) find() mongo.Pipeline {
	known := bson.D{{Key: "$concatArrays", Value: bson.A{"$known._id", mql.Literal(bson.A(d.none))}}}
	return mongo.Pipeline{
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: bson.D{{Key: "ids", Value: d.ref.ids()}}}},
		d.lookup("ids"),
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "doc", Value: "$_id"}, {Key: "path", Value: mql.Literal(d.ref.path)},
			{Key: "id", Value: distinct(except("$ids", known))},
		}}},
		{{Key: "$unwind", Value: "$id"}},
	}
}

// missing are the ids that lead nowhere.
func (d *dangling) missing(filter bson.D) model.Aggregate[MissingID] {
	return d.missingIn(matching(filter,
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "ids", Value: bson.D{{Key: "$setUnion", Value: bson.A{d.ref.ids()}}}}}}},
		bson.D{{Key: "$unwind", Value: "$ids"}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "ids", Value: bson.D{{Key: "$nin", Value: bson.A(d.none)}}}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$ids"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}}}}},
		d.lookup("_id"),
		bson.D{{Key: "$match", Value: bson.D{{Key: "known", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: "$_id"}, {Key: "n", Value: 1}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: -1}, {Key: "id", Value: 1}}}},
	))
}

// lookup adds the targets that exist, their ids only.
func (d *dangling) lookup(local string) bson.D {
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: d.targets}, {Key: "localField", Value: local}, {Key: "foreignField", Value: "_id"},
		{Key: "pipeline", Value: mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}}}, {Key: "as", Value: "known"},
	}}}
}

// ids is the list of what a document holds, as an expression, whatever is stored: a list, one id, null or nothing.
func (r Reference) ids() bson.D {
	path := "$" + r.path
	none := bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$ifNull", Value: bson.A{path, nil}}}, nil}}}
	one := bson.D{{Key: "$cond", Value: bson.A{none, bson.A{}, bson.A{path}}}}
	return bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: "$isArray", Value: path}}, path, one}}}
}

func (d *dangling) relations() []model.Relation {
	to := model.ZeroOrOne
	if d.ref.IsList() {
		to = model.Many
	}
	return []model.Relation{{
		From: d.ref.from, FromPath: d.ref.path, To: d.ref.to, ToPath: "_id",
		FromEnd: model.Many, ToEnd: to, Label: "weak link",
	}}
}
