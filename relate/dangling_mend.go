package relate

import (
	"context"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxIDs is how many ids one command holds at most.
const maxIDs = 10_000

// Repair returns the plan that mends the references to missing ids, as a check found them, by the declared policy. It is
// for ids known to be gone for good; [Dangling.Mend] finds out which are. ReportOnly gives a plan that does nothing.
//
// An id that no _id can be (a regular expression, an array) is refused: mend it by hand.
//
// Cost: one command for every 10,000 ids; as many documents as hold them, found by [Dangling.Indexes]. A command is not
// atomic over documents; the plan can be run again.
func (d *Dangling[D, DK, T, TK]) Repair(missing ...MissingID) model.Plan {
	ids, err := d.values(missing)
	if err != nil {
		return model.RefusedPlan(d.docs.Name(), err)
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
func (d *Dangling[D, DK, T, TK]) values(missing []MissingID) ([]bson.RawValue, error) {
	ids := make([]bson.RawValue, 0, len(missing))
	for _, m := range missing {
		if !canBeID(m.ID) {
			e := &model.ValueError{Collection: d.docs.Name(), Field: d.ref.path, Reason: "no _id can be this: mend it by hand"}
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
func (d *Dangling[D, DK, T, TK]) mendAll(ids bson.A) model.Write {
	filter := d.ref.refers(ids)
	switch d.repair {
	case DeleteReferrers:
		return model.Write{Collection: d.docs.Name(), Index: d.ref.index().Name, Model: &mongo.DeleteManyModel{Filter: filter}}
	case ReplaceIDs:
		update, arrayFilters := d.ref.replace(ids, d.by)
		return d.ref.updateMany(filter, update, arrayFilters)
	}
	return d.ref.updateMany(filter, d.ref.detach(ids), nil)
}

// mendOne is the write to one document, if it still holds one of some ids.
func (d *Dangling[D, DK, T, TK]) mendOne(id bson.RawValue, ids bson.A) model.Write {
	filter := append(bson.D{{Key: "_id", Value: model.Eq(id)}}, d.ref.refers(ids)...)
	w := model.Write{Collection: d.docs.Name(), Index: model.IDIndex, Once: true}
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

// Mend returns the change that finds the ids that have been missing for an age, and mends the references to them by the
// declared policy. The age is to be longer than any plan of the application takes: a reference is not mended for being
// stored a moment before its target. It checks twice, that long apart; an age of 0 checks once, for a database that
// nobody else writes. The state that it returns is what it mended or, under ReportOnly, would have; its numbers of
// documents are those of the last check.
//
// Cost: two checks ([Dangling.Missing]), one when the first finds nothing or the age is 0; one command for every 10,000
// missing ids to check once more the documents that hold them; and those of [Dangling.Repair].
func (d *Dangling[D, DK, T, TK]) Mend(age time.Duration) model.Change[[]MissingID] {
	read := func(ctx context.Context, db *mongo.Database) ([]MissingID, error) {
		found, err := d.Missing(nil).All(ctx, db)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		if age > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(age):
			}
			second, err := d.Missing(nil).All(ctx, db)
			if err != nil {
				return nil, err
			}
			found = StillMissing(found, second)
		}
		return d.again(ctx, db, found)
	}
	return model.Change[[]MissingID]{
		Read:   read,
		Decide: func(found []MissingID) (model.Plan, error) { return d.Repair(found...), nil },
	}
}

// StillMissing returns the ids of the second check that the first found too, as the second found them.
func StillMissing(first, second []MissingID) []MissingID {
	seen := make(map[string]bool, len(first))
	for _, m := range first {
		seen[sameKey(m.ID)] = true
	}
	return slices.DeleteFunc(slices.Clone(second), func(m MissingID) bool { return !seen[sameKey(m.ID)] })
}

// again checks some ids once more, by the documents that hold them, and keeps those that still lead nowhere.
func (d *Dangling[D, DK, T, TK]) again(ctx context.Context, db *mongo.Database, missing []MissingID) ([]MissingID, error) {
	ids, err := d.values(missing)
	if err != nil {
		return nil, err
	}
	var out []MissingID
	for _, chunk := range chunked(ids, maxIDs) {
		check := d.Missing(bson.D{{Key: d.ref.path, Value: bson.D{{Key: "$in", Value: chunk}}}})
		check.Index = d.ref.index().Name
		found, err := check.All(ctx, db)
		if err != nil {
			return nil, err
		}
		out = append(out, StillMissing(missing, found)...)
	}
	return out, nil
}

// Job returns the job that mends the references to missing ids by the declared policy, batch by batch in the order of the
// documents' _id: for ids that very many documents hold, where one command would take too long. It has dry runs,
// progress, and goes on where it stopped. The ids are those of a check, or what [Dangling.Mend] under ReportOnly returned;
// more than 10,000 are refused.
//
// Cost: two commands for each batch; documents written: those that hold one of the ids. Documents are found in the order of
// _id, so that the job reads the whole collection once.
func (d *Dangling[D, DK, T, TK]) Job(missing ...MissingID) model.Job {
	job := model.Job{
		Name: "dangling " + d.ref.from + "." + d.ref.path, Collection: d.docs.Name(),
		Projection: bson.D{{Key: d.ref.path, Value: 1}},
	}
	ids, err := d.values(missing)
	switch {
	case err != nil:
		job.Err = err
	case len(chunked(ids, maxIDs)) > 1:
		job.Err = &model.ValueError{Collection: d.docs.Name(), Field: "missing", Value: len(ids), Reason: "too many ids for one job: give at most 10,000, of 4 MiB"}
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
func (d *Dangling[D, DK, T, TK]) batch(docs []bson.Raw, missing []bson.RawValue) model.Plan {
	var p model.Plan
	if d.repair == ReportOnly {
		return p
	}
	wanted := make(map[string]bool, len(missing))
	for _, id := range missing {
		wanted[sameKey(id)] = true
	}
	for _, doc := range docs {
		ids, seen := bson.A{}, map[string]bool{}
		for _, v := range valuesAt(doc, d.ref.path) {
			if !wanted[sameKey(v)] || seen[idKey(v)] {
				continue
			}
			seen[idKey(v)] = true
			id, err := rawID(v)
			if err != nil {
				return model.RefusedPlan(d.docs.Name(), err)
			}
			ids = append(ids, id)
		}
		id, err := rawID(doc.Lookup("_id"))
		if err != nil {
			return model.RefusedPlan(d.docs.Name(), err)
		}
		if len(ids) > 0 {
			p.Steps = append(p.Steps, d.mendOne(id, ids))
		}
	}
	return p
}
