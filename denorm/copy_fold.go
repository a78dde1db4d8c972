package denorm

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An Unfolded is a source that can't go without loss, as [Copy.Unfolded] found it.
type Unfolded struct {
	ID     bson.RawValue `bson:"_id"`
	Copied bool          `bson:"copied"` // a document holds a copy of it
	Stale  bool          `bson:"stale"`  // a copy has other values
	Extra  []string      `bson:"extra"`  // its fields that are not copied
}

// String is the reason for a reader: "'h1': its fields 'rack' are not copied".
func (u Unfolded) String() string {
	var why []string
	if !u.Copied {
		why = append(why, "no document holds a copy")
	}
	if u.Stale {
		why = append(why, "a copy has other values")
	}
	if len(u.Extra) > 0 {
		why = append(why, "its fields "+strings.Join(u.Extra, ", ")+" are not copied")
	}
	return model.Shell(u.ID) + ": " + strings.Join(why, "; ")
}

// Unfolded returns the sources that [Copy.Fold] would leave, and why: no document holds a copy, a copy has other values, or they
// have fields that aren't copied. drop names fields that need no copy.
//
// A field counts as copied when it is copied whole, from the top level of the source.
//
// Cost: one command; it reads every source, and the server reads its copies by [Copy.Indexes], or by the _ids listed, until
// one differs. Without that index it reads all documents that hold copies for each source, twice.
func (c *Copy[S, SK, TK]) Unfolded(drop ...string) model.Aggregate[Unfolded] {
	stages, err := c.c.fold(drop)
	stages = append(stages,
		bson.D{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: "copied", Value: false}}, bson.D{{Key: "stale", Value: true}}, bson.D{{Key: "extra", Value: bson.D{{Key: "$ne", Value: bson.A{}}}}},
		}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$unset", Value: "source"}},
	)
	return model.Aggregate[Unfolded]{Aggregation: model.Aggregation{Collection: c.c.docs, Pipeline: stages, Err: err}}
}

// Fold returns the job that does away with the sources: what is left of each is its copies, found by the key or by a copied
// field. It deletes a source when at least one document holds a copy of it, none holds a stale one, and every field of it is
// copied, or named by drop; others it leaves, and [Copy.Unfolded] says why. Run [Copy.Rebuild] before it.
//
// A source is deleted only as it was read; one that changes meanwhile stays. A copy that somebody stores from an older read of
// a source, after it was deleted, stays as it is: have nobody write sources or copies that way while it runs.
//
// Cost: two commands for each batch of 500 sources, and two to find the end, with the lookups of [Copy.Unfolded]; documents
// written: the sources. It can be stopped anywhere and run again, and has a dry run.
//
// Source: "denormalize them all into the squillions side and get rid of the one collection" (seed 004).
func (c *Copy[S, SK, TK]) Fold(drop ...string) model.Job {
	stages, err := c.c.fold(drop)
	return model.Job{
		Name: "fold " + c.c.docs + " into " + c.c.to.docs, Collection: c.c.docs, Stages: stages, Plan: c.c.unneeded, Err: err,
	}
}

// fold are the stages that say of each source whether it can go.
func (c *copying) fold(drop []string) (mongo.Pipeline, error) {
	whole := bson.A{"_id"}
	keep := func(name string) {
		if name != "" && !strings.Contains(name, ".") {
			whole = append(whole, name)
		}
	}
	for _, f := range c.fields {
		keep(f.From)
	}
	keep(c.spec.Version)
	keep(c.spec.Listed)
	for i, name := range drop {
		if err := model.CheckKey(name); err != nil {
			return nil, c.refused(fmt.Sprintf("drop[%d]", i), name, err.Error())
		}
		keep(name)
	}
	local, foreign := "_id", c.spec.KeyPath
	if c.key == "" {
		local, foreign = "source."+c.spec.Listed, "_id"
	}
	correlated := func(as string, let bson.D, pipeline mongo.Pipeline) bson.D {
		stage := mql.Lookup(c.to.docs, local, foreign, as)
		d := stage[0].Value.(bson.D)
		if let != nil {
			d = append(d, bson.E{Key: "let", Value: let})
		}
		stage[0].Value = append(d, bson.E{Key: "pipeline", Value: append(pipeline, bson.D{{Key: "$limit", Value: int64(1)}})})
		return stage
	}
	names := mql.Op("$map", bson.D{{Key: "input", Value: mql.Op("$objectToArray", "$$ROOT")}, {Key: "as", Value: "f"}, {Key: "in", Value: "$$f.k"}})
	found := func(list string) bson.D { return mql.Op("$ne", mql.Op("$size", list), 0) }
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "source", Value: "$$ROOT"}, {Key: "extra", Value: mql.Op("$setDifference", names, mql.Literal(whole))}}}},
		correlated("copied", nil, nil),
		correlated("stale", bson.D{
			{Key: "id", Value: "$_id"}, {Key: "want", Value: c.fieldsAt(func(f Field) string { return "$source." + f.From })},
		}, c.staleCopies()),
		{{Key: "$set", Value: bson.D{{Key: "copied", Value: found("$copied")}, {Key: "stale", Value: found("$stale")}}}},
	}, nil
}

// staleCopies are the stages, over the documents that hold copies of a source, that leave those of other values. They keep the
// documents' fields, without which DocumentDB finds none.
func (c *copying) staleCopies() mongo.Pipeline {
	const held = "docmodel_copy"
	at := "$$ROOT"
	if len(c.arrays) > 0 {
		at = "$" + c.arrays[0]
	}
	differs := mql.Op("$ne", c.fieldsAt(func(f Field) string { return "$" + held + "." + f.To }), "$$want")
	if c.key != "" {
		differs = mql.Op("$and", mql.Op("$eq", "$"+held+"."+c.key, "$$id"), differs)
	}
	p := append(mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: held, Value: at}}}}}, c.unwind(held)...)
	return append(p, bson.D{{Key: "$match", Value: bson.D{{Key: "$expr", Value: differs}}}})
}

// unneeded is the plan that deletes, of a batch, the sources that can go.
func (c *copying) unneeded(rows []bson.Raw) (p model.Plan, _ error) {
	for _, row := range rows {
		extra, err := row.Lookup("extra").Array().Values()
		if err != nil {
			return p, err
		}
		if len(extra) > 0 || !row.Lookup("copied").Boolean() || row.Lookup("stale").Boolean() {
			continue
		}
		source := clone(row.Lookup("source"))
		p.Steps = append(p.Steps, model.Write{
			Collection: c.docs, Index: model.IDIndex, Once: true,
			Model: &mongo.DeleteOneModel{Filter: model.AsRead(source.Document())},
		})
	}
	return p, nil
}
