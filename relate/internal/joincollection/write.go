package joincollection

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Pair is the filter of one pair.
func (j *Relation) Pair(left, right any) (bson.D, error) {
	a, err := j.Left.Encode(left)
	if err != nil {
		return nil, err
	}
	b, err := j.Right.Encode(right)
	return append(stmt.Is(j.Left.Path, a), stmt.Is(j.Right.Path, b)...), err
}

func (j *Relation) HoldsNone(end idref.Held) error {
	return j.Links.Refuse(end.Path, nil, "the link has no id")
}

// linked is the reason that a pair can't be stored: another link ties it.
func (j *Relation) linked(pair bson.D) []model.Reason {
	left, right := model.Shell(bare(pair[0].Value)), model.Shell(bare(pair[1].Value))
	return []model.Reason{{If: pair, Err: fmt.Errorf("docmodel: another link connects %s and %s: %w", left, right, model.ErrTaken)}}
}

// bare takes the $eq off a condition that model.Eq made.
func bare(cond any) any {
	if d, ok := cond.(bson.D); ok && len(d) == 1 && d[0].Key == "$eq" {
		return d[0].Value
	}
	return cond
}

// Link is the write that stores a link.
func (j *Relation) Link(insert model.Write, pair bson.D) model.Write {
	insert = model.Write{ // no write of the collection alone, which a model's handle refuses
		Collection: insert.Collection, Model: insert.Model, Keyed: insert.Keyed, Err: insert.Err,
		Index: j.PairIndex(), Reasons: j.linked(pair),
	}
	if m, ok := insert.Model.(*mongo.InsertOneModel); ok {
		id := m.Document.(bson.Raw).Lookup("_id")
		insert.Reasons = append(insert.Reasons, model.Reason{
			If: commands.ByID(id), Err: fmt.Errorf("docmodel: another link has the _id %s: %w", model.Shell(id), model.ErrTaken),
		})
	}
	return insert
}

// Ensure is the write that links a pair unless it is linked.
func (j *Relation) Ensure(insert model.Write, pair bson.D) model.Write {
	elems, err := insert.Model.(*mongo.InsertOneModel).Document.(bson.Raw).Elements()
	if err != nil {
		return model.Refused(j.Links.Name(), j.Links.Refuse("document", nil, err.Error()))
	}
	fields := make(bson.D, len(elems))
	for i, e := range elems {
		fields[i] = bson.E{Key: e.Key(), Value: e.Value()}
	}
	upsert := true
	return model.Write{
		Collection: j.Links.Name(), Index: j.PairIndex(), Once: true, Done: pair,
		Model: &mongo.UpdateOneModel{Filter: pair, Update: bson.D{{Key: "$setOnInsert", Value: fields}}, Upsert: &upsert},
	}
}

// Once notes the pair of the i-th link. A bad link is an error, and so is a pair that came before.
func (j *Relation) Once(seen map[string]int, i int, pair bson.D, err error) error {
	if err == nil {
		key := idref.Key(bson.A{bare(pair[0].Value), bare(pair[1].Value)})
		if first, twice := seen[key]; twice {
			err = j.Links.Refuse("links", pair, fmt.Sprintf("link %d connects the same pair as link %d", i, first))
		}
		seen[key] = i
	}
	if err != nil && i > 0 {
		return fmt.Errorf("docmodel: link %d: %w", i, err)
	}
	return err
}

func (j *Relation) Unlink(left, right any) model.Write {
	pair, err := j.Pair(left, right)
	return model.Write{
		Collection: j.Links.Name(), Index: j.PairIndex(), Once: true, Err: err,
		Model: &mongo.DeleteOneModel{Filter: pair},
	}
}

// Update is the write that applies operators to the link of a pair.
func (j *Relation) Update(left, right any, update bson.D) model.Write {
	pair, err := j.Pair(left, right)
	if err != nil {
		return model.Refused(j.Links.Name(), err)
	}
	ops, err := j.Links.Codec().CopyD(update)
	if err != nil {
		return model.Refused(j.Links.Name(), j.Links.Refuse("update", nil, err.Error()))
	}
	once, err := j.checkUpdate(ops)
	if err == nil {
		err = j.Links.CheckUpdate(ops)
	}
	if err != nil {
		return model.Refused(j.Links.Name(), err)
	}
	w := commands.UpdateOne(j.Links.Name(), pair, ops)
	w.Index, w.Once, w.Reasons = j.PairIndex(), once, []model.Reason{{Err: model.ErrNotFound}}
	return w
}

// checkUpdate refuses an update that isn't by operators of the link's own fields, and reports whether a second run of it
// changes nothing.
func (j *Relation) checkUpdate(update bson.D) (once bool, _ error) {
	if len(update) == 0 {
		return false, j.Links.Refuse("update", nil, "is empty: give at least one update operator")
	}
	once = true
	for _, op := range update {
		if len(op.Key) < 2 || op.Key[0] != '$' {
			return false, j.Links.Refuse(op.Key, nil, "isn't an update operator")
		}
		raw, err := j.Links.Raw(op.Value)
		doc, ok := raw.DocumentOK()
		if err != nil || !ok {
			return false, j.Links.Refuse(op.Key, nil, "needs a document of fields")
		}
		once = once && repeats[op.Key]
		fields, _ := doc.Elements()
		for _, f := range fields {
			paths := []string{f.Key()}
			if to, ok := f.Value().StringValueOK(); ok && op.Key == "$rename" {
				paths = append(paths, to)
			}
			for _, path := range paths {
				if core.Overlap(path, j.Left.Path) || core.Overlap(path, j.Right.Path) || core.Overlap(path, "_id") {
					return false, j.Links.Refuse(path, nil, "is an id of the link, which Store.SetOne changes")
				}
			}
		}
	}
	return once, nil
}

// repeats holds the operators whose second run changes nothing.
var repeats = map[string]bool{
	"$set": true, "$unset": true, "$addToSet": true, "$pull": true, "$pullAll": true, "$min": true, "$max": true, "$rename": true,
	"$setOnInsert": true,
}

// UnlinkAll is the write that deletes the links of a document.
func (s *Side) UnlinkAll(id any) model.Write {
	v, err := s.IDs.Encode(id)
	return model.Write{Collection: s.Links.Name(), Index: s.Index().Name, Err: err, Model: &mongo.DeleteManyModel{Filter: stmt.Is(s.path, v)}}
}
