package relate

import (
	"context"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxIDs is how many ids one command holds at most.
const maxIDs = 10_000

// repairPlan is the plan that mends the references to missing ids.
//
//go:noinline
func (d *dangling) repairPlan(missing []MissingID) model.Plan {
	ids, err := d.values(missing)
	if err != nil {
		return model.RefusedPlan(d.docs, err)
	}
	var p model.Plan
	if d.repair == ReportOnly {
		return p
	}
	for _, chunk := range chunked(ids, maxIDs) {
		p.Steps = append(p.Steps, d.mendAll(chunk))
	}
	if len(p.Steps) > 0 {
		p.Leaves = "references of some documents mended, of others not yet"
	}
	return p
}

// values checks missing ids and copies them.
func (d *dangling) values(missing []MissingID) ([]bson.RawValue, error) {
	ids := make([]bson.RawValue, 0, len(missing))
	for _, m := range missing {
		if !canBeID(m.ID) {
			e := &model.ValueError{Collection: d.docs, Field: d.ref.path, Reason: "no _id can be this: mend it by hand"}
			if m.ID.Type != 0 {
				e.Value = m.ID
			}
			return nil, e
		}
		id, err := rawID(m.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// mendAll is the write to every document that holds one of some ids.
func (d *dangling) mendAll(ids bson.A) model.Write {
	filter := d.ref.refers(ids)
	switch d.repair {
	case DeleteReferrers:
		return model.Write{Collection: d.docs, Index: d.ref.index().Name, Model: &mongo.DeleteManyModel{Filter: filter}}
	case ReplaceIDs:
		update, arrayFilters := d.ref.replace(ids, d.by)
		return d.ref.updateMany(filter, update, arrayFilters)
	}
	return d.ref.updateMany(filter, d.ref.detach(ids), nil)
}

// mendOne is the write to one document, if it still holds one of some ids.
func (d *dangling) mendOne(id bson.RawValue, ids bson.A) model.Write {
	filter := append(bson.D{{Key: "_id", Value: model.Eq(id)}}, d.ref.refers(ids)...)
	w := model.Write{Collection: d.docs, Index: model.IDIndex, Once: true}
	switch d.repair {
	case DeleteReferrers:
		w.Model = &mongo.DeleteOneModel{Filter: filter}
	case ReplaceIDs:
		update, arrayFilters := d.ref.replace(ids, d.by)
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: arrayFilters}
	default:
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: d.ref.detach(ids)}
	}
	return w
}

// mend is the change that finds and mends.
//
//go:noinline
func (d *dangling) mend(age time.Duration) model.Change[[]MissingID] {
	read := func(ctx context.Context, db *mongo.Database) ([]MissingID, error) {
		found, err := d.missing(nil).All(ctx, db)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		if age > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(age):
			}
			second, err := d.missing(nil).All(ctx, db)
			if err != nil {
				return nil, err
			}
			found = StillMissing(found, second)
		}
		return d.again(ctx, db, found)
	}
	return model.Change[[]MissingID]{
		Read:   read,
		Decide: func(found []MissingID) (model.Plan, error) { return d.repairPlan(found), nil },
	}
}

// StillMissing returns the ids of the second check that the first found too, as the second found them.
func StillMissing(first, second []MissingID) []MissingID {
	seen := make(map[string]bool, len(first))
	for _, m := range first {
		seen[bsonval.Key(m.ID)] = true
	}
	return slices.DeleteFunc(slices.Clone(second), func(m MissingID) bool { return !seen[bsonval.Key(m.ID)] })
}

// again checks some ids once more, by the documents that hold them, and keeps those that still lead nowhere.
func (d *dangling) again(ctx context.Context, db *mongo.Database, missing []MissingID) ([]MissingID, error) {
	ids, err := d.values(missing)
	if err != nil {
		return nil, err
	}
	var out []MissingID
	for _, chunk := range chunked(ids, maxIDs) {
		check := d.missing(bson.D{{Key: d.ref.path, Value: bson.D{{Key: "$in", Value: chunk}}}})
		check.Index = d.ref.index().Name
		found, err := check.All(ctx, db)
		if err != nil {
			return nil, err
		}
		out = append(out, StillMissing(missing, found)...)
	}
	return out, nil
}

// job is the job that mends the references to missing ids.
//
//go:noinline
func (d *dangling) job(missing []MissingID) model.Job {
	job := model.Job{
		Name: "dangling " + d.ref.from + "." + d.ref.path, Collection: d.docs,
		Projection: bson.D{{Key: d.ref.path, Value: 1}},
	}
	ids, err := d.values(missing)
	switch {
	case err != nil:
		job.Err = err
	case len(chunked(ids, maxIDs)) > 1:
		job.Err = &model.ValueError{Collection: d.docs, Field: "missing", Value: len(ids), Reason: "too many ids for one job: give at most 10,000, of 4 MiB"}
	}
	if job.Err != nil {
		return job
	}
	all := bson.A{}
	for _, id := range ids {
		all = append(all, id)
	}
	job.Filter = d.ref.refers(all)
	job.Plan = func(docs []bson.Raw) (model.Plan, error) { return d.batch(docs, ids), nil }
	return job
}

// batch is the plan for some documents that hold missing ids.
func (d *dangling) batch(docs []bson.Raw, missing []bson.RawValue) model.Plan {
	var p model.Plan
	if d.repair == ReportOnly {
		return p
	}
	wanted := make(map[string]bool, len(missing))
	for _, id := range missing {
		wanted[bsonval.Key(id)] = true
	}
	for _, doc := range docs {
		ids, seen := bson.A{}, map[string]bool{}
		for _, v := range valuesAt(doc, d.ref.path) {
			if !wanted[bsonval.Key(v)] || seen[bsonval.Key(v)] {
				continue
			}
			seen[bsonval.Key(v)] = true
			id, err := rawID(v)
			if err != nil {
				return model.RefusedPlan(d.docs, err)
			}
			ids = append(ids, id)
		}
		id, err := rawID(doc.Lookup("_id"))
		if err != nil {
			return model.RefusedPlan(d.docs, err)
		}
		if len(ids) > 0 {
			p.Steps = append(p.Steps, d.mendOne(id, ids))
		}
	}
	return p
}
