package relate

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Link returns the write that stores a link. Run again with the same document, it recognizes its own; a pair that another
// document ties gives a [*LinkedError], and so does one that ties it with other fields under the same _id. That the
// documents at both ends exist is not checked: store them first.
//
// Cost: one command, one document; on a pair that is linked already, one or two commands more to tell whose it is.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Link(link L) model.Write {
	w := j.links.Insert(link)
	if w.Err != nil {
		return w
	}
	pair, err := j.pairOf(&link)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	w.Index, w.Reasons = j.pairIndex(), j.linked(pair)
	return w
}

// LinkAll returns the plan that stores links in order, each as [JoinCollection.Link] does. A pair that is given twice
// refuses all of them. The first that another document ties already ends the plan with a [*LinkedError]; those before it
// stay. No link at all gives a plan that does nothing.
//
// Cost: one command for each 100,000 links or 16 MiB; documents written: all. A plan that was cut can be run again.
func (j *JoinCollection[L, LK, A, AK, B, BK]) LinkAll(links []L) model.Plan {
	return j.many(links, j.Link)
}

// Ensure returns the write that links a pair unless it is linked: a link that is there already stays as it is, fields and
// _id too. It can be run again; of two at once, one is stored.
//
// Cost: one command, one document; one command more when two writers met.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Ensure(link L) model.Write {
	w := j.Link(link)
	if w.Err != nil {
		return w
	}
	pair, err := j.pairOf(&link)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	elems, err := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw).Elements()
	if err != nil {
		return model.Refused(j.links.Name(), &model.ValueError{Collection: j.links.Name(), Field: "document", Reason: err.Error()})
	}
	fields := make(bson.D, len(elems))
	for i, e := range elems {
		fields[i] = bson.E{Key: e.Key(), Value: e.Value()}
	}
	upsert := true
	return model.Write{
		Collection: j.links.Name(), Index: j.pairIndex(), Once: true, Done: pair,
		Model: &mongo.UpdateOneModel{Filter: pair, Update: bson.D{{Key: "$setOnInsert", Value: fields}}, Upsert: &upsert},
	}
}

// EnsureAll returns the plan that links pairs in order, each as [JoinCollection.Ensure] does. A pair that is given twice
// refuses all of them. No link at all gives a plan that does nothing.
//
// Cost: one command for each 100,000 links or 16 MiB; documents written: all that were not there.
func (j *JoinCollection[L, LK, A, AK, B, BK]) EnsureAll(links []L) model.Plan {
	return j.many(links, j.Ensure)
}

// many is the plan of one write for each link, of pairs that differ.
func (j *JoinCollection[L, LK, A, AK, B, BK]) many(links []L, write func(L) model.Write) model.Plan {
	var p model.Plan
	seen := make(map[string]int, len(links))
	for i := range links {
		w := write(links[i])
		err := w.Err
		if err == nil {
			pair, _ := j.pairOf(&links[i]) // the write has checked it
			key := model.Shell(pair)
			if first, twice := seen[key]; twice {
				err = &model.ValueError{Collection: j.links.Name(), Field: "links", Value: pair, Reason: fmt.Sprintf("%d ties the same pair as %d", i, first)}
			}
			seen[key] = i
		}
		if err != nil {
			return model.RefusedPlan(j.links.Name(), fmt.Errorf("link %d: %w", i, err))
		}
		p.Steps = append(p.Steps, w)
	}
	return p
}

// Unlink returns the write that deletes the link of a pair, if there is one.
//
// Cost: one command, one document, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Unlink(left AK, right BK) model.Write {
	pair, err := j.pair(left, right)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	return model.Write{
		Collection: j.links.Name(), Index: j.pairIndex(), Once: true,
		Model: &mongo.DeleteOneModel{Filter: pair},
	}
}

// UnlinkLeft returns the write that deletes all links of a left document.
//
// Cost: one command, as many documents as it has links, served by [JoinCollection.Indexes]. The command is not atomic over
// documents; it is idempotent.
func (j *JoinCollection[L, LK, A, AK, B, BK]) UnlinkLeft(left AK) model.Write {
	id, err := encodeID(j.lefts, j.links.Name(), j.leftPath(), left)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	return j.deleteMany(bson.D{{Key: j.leftPath(), Value: model.Eq(id)}}, j.Indexes()[1].Name)
}

// UnlinkRight returns the write that deletes all links of a right document.
//
// Cost: as [JoinCollection.UnlinkLeft].
func (j *JoinCollection[L, LK, A, AK, B, BK]) UnlinkRight(right BK) model.Write {
	id, err := encodeID(j.rights, j.links.Name(), j.rightPath(), right)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	return j.deleteMany(bson.D{{Key: j.rightPath(), Value: model.Eq(id)}}, j.Indexes()[2].Name)
}

// Update returns the write that applies update operators to the link of a pair. A pair that is not linked gives
// model.ErrStale when it is run. The update is copied; one that touches an id of the pair, or _id, is refused: see
// [JoinCollection.Move].
//
// Cost: one command, one document, served by the unique index on the pair. It can be run again as far as its operators
// can.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Update(left AK, right BK, update bson.D) model.Write {
	pair, err := j.pair(left, right)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	m := j.links.Modify(pair, update)
	if m.Err != nil {
		return model.Refused(j.links.Name(), &model.ValueError{Collection: j.links.Name(), Field: "update", Reason: m.Err.Error()})
	}
	ops, _ := m.Update.(bson.D)
	once, err := j.checkUpdate(ops)
	if err != nil {
		return model.Refused(j.links.Name(), err)
	}
	return model.Write{
		Collection: j.links.Name(), Expect: model.One, Index: j.pairIndex(), Once: once,
		Model: &mongo.UpdateOneModel{Filter: pair, Update: ops},
	}
}

// checkUpdate refuses what is not an update by operators of the link's own fields, and reports whether a second run of it
// changes nothing.
func (j *JoinCollection[L, LK, A, AK, B, BK]) checkUpdate(update bson.D) (once bool, _ error) {
	refuse := func(field, reason string) (bool, error) {
		return false, &model.ValueError{Collection: j.links.Name(), Field: field, Reason: reason}
	}
	if len(update) == 0 {
		return refuse("update", "has no operator")
	}
	once = true
	for _, op := range update {
		if len(op.Key) < 2 || op.Key[0] != '$' {
			return refuse(op.Key, "is not an update operator")
		}
		fields, ok := documentOf(op.Value)
		if !ok {
			return refuse(op.Key, "needs a document of fields")
		}
		once = once && repeats[op.Key]
		for _, f := range fields {
			paths := []string{f.Key()}
			if to, ok := f.Value().StringValueOK(); ok && op.Key == "$rename" {
				paths = append(paths, to)
			}
			for _, path := range paths {
				if overlap(path, j.leftPath()) || overlap(path, j.rightPath()) || overlap(path, "_id") {
					return refuse(path, "is an id of the link: use Move")
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

// documentOf returns the fields of a value that is stored as a document.
func documentOf(v any) ([]bson.RawElement, bool) {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return nil, false
	}
	doc, ok := bson.Raw(raw).Lookup("v").DocumentOK()
	if !ok {
		return nil, false
	}
	elems, err := doc.Elements()
	return elems, err == nil
}

// Move returns the write that gives a link, as it was read, other ends; its fields and its _id stay. When the link was
// moved or deleted since, running it gives model.ErrStale; when another link ties the new pair already, a [*LinkedError].
//
// Cost: one command, one document, found by _id; one or two commands more when nothing matched. It can be run again.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Move(link *L, left AK, right BK) model.Write {
	refused := func(err error) model.Write { return model.Refused(j.links.Name(), err) }
	id, err := j.links.ID(link)
	if err != nil {
		return refused(err)
	}
	key, err := encodeID(j.links, j.links.Name(), "_id", id)
	if err != nil {
		return refused(err)
	}
	was, err := j.pairOf(link)
	if err != nil {
		return refused(err)
	}
	next, err := j.pair(left, right)
	if err != nil {
		return refused(err)
	}
	this := bson.D{{Key: "_id", Value: model.Eq(key)}}
	w := updateOne(j.links.Name(), model.And(this, was), bson.D{{Key: "$set", Value: bson.D{
		{Key: j.leftPath(), Value: bare(next[0].Value)}, {Key: j.rightPath(), Value: bare(next[1].Value)},
	}}})
	w.Done, w.Once = model.And(this, next), true
	w.Reasons = j.linked(next)
	return w
}
