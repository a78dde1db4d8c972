package model_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A worldRun is an operation with its arguments. It returns what a caller sees.
type worldRun func(ctx context.Context, db model.DB) (string, error)

// random returns a random operation.
func (w *worlds) random() (string, worldRun) {
	collation, keyed := foldingCollations[w.r.IntN(len(foldingCollations))], w.r.IntN(2) == 0
	if w.r.IntN(3) == 0 {
		return w.randomPipeline(collation, keyed)
	}
	if w.r.IntN(2) == 0 {
		return w.randomWrite(collation, keyed)
	}
	filter := w.randomFilter(keyed)
	find := docsAny.Named(worldName(keyed)).Find(filter).Sorted(d("name", 1, "n", -1, "_id", 1))
	find.Options.Collation, find.Keyed = collation, keyed && w.model == nil
	modify := docsAny.Named(worldName(keyed)).Modify(filter, d("$inc", d("n", 1)))
	modify.Options.Collation, modify.Keyed, modify.Sort, modify.After = collation, keyed &&
		w.model == nil, d("name", 1, "_id", 1), true
	what := fmt.Sprintf("%v under %v", find, collation)
	switch w.r.IntN(4) {
	case 0:
		return "count " + what, func(ctx context.Context, db model.DB) (string, error) {
			n, err := find.Count(ctx, db)
			return fmt.Sprint(n), err
		}
	case 1:
		modify.Remove = w.r.IntN(4) == 0
		if modify.Remove {
			modify.Update, modify.After = nil, false
		}
		return "modify " + what, func(ctx context.Context, db model.DB) (string, error) {
			doc, err := modify.Run(ctx, db)
			return seen([]bson.D{doc}, err)
		}
	case 2:
		find.Options.Collation = nil // pages need the simple collation
		page := find.Sorted(d("n", 1)).Limited(3)
		return "page " + what, func(ctx context.Context, db model.DB) (out string, err error) {
			for token, n := "", 0; n < 3; n++ {
				p, err := page.Page(ctx, db, token)
				text, err := seen(p.Docs, err)
				if out += text + "|"; err != nil || p.Next == "" {
					return out, err
				}
				token = p.Next
			}
			return out, nil
		}
	}
	return "find " + what, func(ctx context.Context, db model.DB) (string, error) { return seen(find.All(ctx, db)) }
}

func worldName(keyed bool) string { return worldNames[map[bool]int{true: 1}[keyed]] }

// randomFilter is a condition on a text that is like others.
func (w *worlds) randomFilter(keyed bool) bson.D {
	path, v := "name", w.family.text(w.r)
	if keyed && w.r.IntN(2) == 0 {
		path = "_id"
	}
	conditions := []any{
		v,
		d("$in", bson.A{v, w.family.text(w.r), w.family.text(w.r)}),
		d("$gte", v), d("$lt", v), d("$ne", v), bson.Regex{Pattern: "^[aA7]"},
	}
	part := bson.D{{Key: path, Value: conditions[w.r.IntN(len(conditions))]}}
	switch w.r.IntN(6) {
	case 0:
		return d()
	case 1:
		return bson.D{{Key: "$or", Value: bson.A{part, d("n", w.r.IntN(3))}}}
	case 2:
		return append(part, bson.E{Key: "n", Value: d("$lte", w.r.IntN(3))})
	}
	return part
}

func (w *worlds) randomWrite(collation *options.Collation, keyed bool) (string, worldRun) {
	w.nextID++
	id, name, filter := any(w.nextID), w.family.text(w.r), w.randomFilter(keyed)
	if keyed {
		id = name
	}
	doc, set := bson.D{
		{Key: "_id", Value: id}, {Key: "name", Value: name}, {Key: "n", Value: int32(w.r.IntN(3))},
	}, d("$set", d("name", name), "$inc", d("n", 1))
	upsert := &mongo.UpdateOneModel{
		Filter:    d("name", name),
		Update:    bson.D{{Key: "$inc", Value: d("n", 1)}, {Key: "$setOnInsert", Value: bson.D{{Key: "_id", Value: id}}}},
		Collation: collation,
	}
	if upsert.Upsert = pointTo(true); keyed {
		upsert.Filter, upsert.Update = bson.D{{Key: "_id", Value: id}}, d("$inc", d("n", 1))
	}
	models := []mongo.WriteModel{
		&mongo.InsertOneModel{Document: doc}, &mongo.InsertOneModel{Document: doc},
		&mongo.InsertOneModel{Document: doc}, upsert,
		&mongo.UpdateOneModel{Filter: filter, Update: set, Collation: collation},
		&mongo.UpdateManyModel{Filter: filter, Update: set, Collation: collation},
		&mongo.ReplaceOneModel{Filter: filter, Replacement: doc[1:], Collation: collation},
		&mongo.UpdateManyModel{Filter: filter, Update: mongo.Pipeline{set[:1]}, Collation: collation},
		&mongo.DeleteOneModel{Filter: filter, Collation: collation},
		&mongo.DeleteManyModel{Filter: filter, Collation: collation},
	}
	if w.r.IntN(8) > 0 { // deletes are rare
		models = models[:8]
	}
	write := model.Write{
		Collection: worldName(keyed), Model: models[w.r.IntN(len(models))], Keyed: keyed && w.model == nil,
	}
	p := model.NewPlan(write)
	p.Options.AllowPartial = true
	return fmt.Sprintf("%v under %v", p, collation), func(ctx context.Context, db model.DB) (string, error) {
		res, err := p.Run(ctx, db)
		var n int64
		for _, b := range res.Batches {
			n += b.Inserted + b.Matched + b.Deleted + b.Upserted
		}
		return fmt.Sprint(n), err
	}
}

func (w *worlds) randomPipeline(collation *options.Collation, keyed bool) (string, worldRun) {
	name := worldName(keyed)
	lookup := d("$lookup", d("from", "parts", "as", "all", "localField", "name", "foreignField", "name"))
	inner := d("$lookup",
		d("from", "parts", "as", "all", "let", d("v", "$name"), "pipeline", mongo.Pipeline{
			d("$match", d("$expr", d("$eq", bson.A{"$name", "$$v"}))),
		}))
	graph := d("$graphLookup",
		d("from", "parts", "as", "all", "startWith", "$name", "connectFromField", "name",
			"connectToField", "name", "maxDepth", 1))
	byID := d("$lookup", d("from", "keyed", "as", "all", "localField", "name", "foreignField", "_id"))
	toID := d("$lookup", d("from", "keyed", "as", "all", "localField", "_id", "foreignField", "_id"))
	fromID := d("$lookup", d("from", "parts", "as", "all", "localField", "_id", "foreignField", "name"))
	byGraph := d("$graphLookup",
		d("from", "keyed", "as", "all", "startWith", "$name", "connectFromField", "_id", "connectToField", "_id"))
	group := d("$group", d("_id", "$name", "n", d("$sum", 1), "ids", d("$push", "$_id")))
	endings := []mongo.Pipeline{
		{lookup}, {inner}, {graph}, {d("$unionWith", "parts")},
		{d("$unionWith", d("coll", "parts", "pipeline", mongo.Pipeline{lookup}))}, {group, d("$sort", d("n", 1, "ids", 1))},
		{byID}, {toID}, {fromID}, {byGraph}, {d("$unionWith", "keyed"), d("$sort", d("_id", 1, "name", 1))},
		{d("$facet", d("a", mongo.Pipeline{lookup}, "b", mongo.Pipeline{group, d("$sort", d("n", 1, "ids", 1))}))},
		{d("$count", "n")}, {d("$sortByCount", "$name"), d("$sort", d("count", 1, "_id", 1))},
	}
	a := docsAny.Named(name).
		Aggregate(append(mongo.Pipeline{d("$match", w.randomFilter(keyed)), d("$sort", d("_id", 1))},
			endings[w.r.IntN(len(endings))]...))
	a.Options.Collation = collation
	if w.model == nil {
		a.Keyed = []string{"keyed"}
	}
	return fmt.Sprintf("%v under %v", a, collation), func(ctx context.Context, db model.DB) (string, error) {
		return seen(a.All(ctx, db))
	}
}

// seen is a text of documents, without their tenant.
func seen(docs []bson.D, err error) (string, error) {
	var text []string
	for _, doc := range docs {
		text = append(text, model.Shell(withoutTenants(doc)))
	}
	return strings.Join(text, ", "), err
}

func withoutTenants(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		for _, e := range v {
			if e.Key != "tenant" {
				out = append(out, bson.E{Key: e.Key, Value: withoutTenants(e.Value)})
			}
		}
		return out
	case bson.A:
		for i := range v {
			v[i] = withoutTenants(v[i])
		}
	}
	return v
}
