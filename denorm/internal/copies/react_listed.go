package copies

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The reactions of copies in documents that their sources list.

// fetchListing returns the query of the sources that list a new document.
func (c *Copying) fetchListing(w model.StoreWrite) ([]model.Fetch, error) {
	if w.After == nil {
		return nil, nil
	}
	return []model.Fetch{c.listing(w.After.Lookup("_id"))}, nil
}

// listing returns the query of the sources that list a document.
func (c *Copying) listing(id bson.RawValue) model.Fetch {
	return model.Fetch{Collection: c.docs.Name(), ID: bsonval.Clone(id), By: c.spec.Listed, Paths: c.fetched()}
}

// fillListed returns the copied fields of a source that lists the new document.
func (c *Copying) fillListed(w model.StoreWrite) (bson.D, error) {
	s := source{values: make([]bson.RawValue, len(c.fields))}
	if doc := w.Found(0); doc != nil {
		var err error
		if s, err = c.state(doc); err != nil {
			return nil, err
		}
	}
	return c.appendCopy(nil, "", s), nil
}

// holdListing holds the source of a new document in a transaction. So the transaction
// conflicts with others that change the source.
func (c *Copying) holdListing(w model.StoreWrite) (a model.Answer, err error) {
	doc := w.Found(0)
	if !w.Tx || doc == nil {
		return a, nil
	}
	a.Then = []model.Step{commands.UpdateOne(c.docs.Name(), commands.ByID(bsonval.Clone(doc.Lookup("_id"))), c.docs.StoreField().HoldUpdate())}
	return a, nil
}

// correctListed returns the write that brings the copy in a new document up to date, if the
// source has changed since it was read.
func (c *Copying) correctListed(w model.StoreWrite) ([]model.Step, error) {
	p, err := c.placed("", w.After)
	if err != nil {
		return nil, err
	}
	step, err := c.correction(w, p.held, w.Found(0))
	if step == nil {
		return nil, err
	}
	return []model.Step{step}, err
}

// A listChange is what a write of a source changes for the documents that it lists.
type listChange struct {
	was, now       source
	isNew          bool
	added, removed []bson.RawValue
}

func (c *Copying) listChangeOf(w model.StoreWrite) (x listChange, err error) {
	if x.now, err = c.state(w.After); err != nil {
		return x, err
	}
	if x.isNew = w.Before == nil; !x.isNew {
		if x.was, err = c.state(w.Before); err != nil {
			return x, err
		}
	}
	x.added, x.removed = stored.Without(x.now.listed, x.was.listed), stored.Without(x.was.listed, x.now.listed)
	return x, nil
}

// fetchListed returns the documents that a source lists newly, which must exist, and the
// other sources that list the documents which it no longer lists.
func (c *Copying) fetchListed(w model.StoreWrite) (out []model.Fetch, err error) {
	if w.After == nil {
		return nil, nil
	}
	x, err := c.listChangeOf(w)
	for _, id := range x.added {
		out = append(out, model.Fetch{
			Collection: c.to.Name(), ID: bsonval.Clone(id),
			Missing: &model.ReferenceError{Collection: c.docs.Name(), Path: c.spec.Listed, To: c.to.Name(), Value: bsonval.Clone(id)},
		})
	}
	for _, id := range x.removed {
		out = append(out, c.listing(id))
	}
	return out, err
}

// followListed returns the writes that bring the copies in the listed documents up to date.
// A document that the source no longer lists has the copy of another source that lists it,
// or no copy.
func (c *Copying) followListed(w model.StoreWrite) (a model.Answer, err error) {
	if w.After == nil {
		return a, nil
	}
	x, err := c.listChangeOf(w)
	if err != nil {
		return a, err
	}
	a.Once = c.assign(x.now, x.added)
	if !x.isNew && !c.equal(x.was, x.now) {
		a.Then = append(a.Then, c.propagate(x.now, nil)...)
	}
	var alone []bson.RawValue
	for i, id := range x.removed {
		others := w.FoundAll(len(x.added) + i)
		j := slices.IndexFunc(others, func(doc bson.Raw) bool { return !bsonval.EqualRaw(doc.Lookup("_id"), x.now.id) })
		if j < 0 {
			alone = append(alone, id)
			continue
		}
		s, err := c.state(others[j])
		if err != nil {
			return a, err
		}
		a.Once = append(a.Once, c.assign(s, []bson.RawValue{id})...)
	}
	a.Once = append(a.Once, c.clear(x.was, alone)...)
	return a, nil
}

// assign returns the updates that store the copy of a source in documents, whichever copy
// they have: the versions of two sources can't be compared. A late writer must not repeat
// them.
func (c *Copying) assign(s source, docs []bson.RawValue) (out []model.Write) {
	for _, id := range docs {
		out = append(out, c.updateDoc(id, nil, c.operators(s)))
	}
	return out
}

// clear returns the updates that remove the copy of a source from documents.
func (c *Copying) clear(s source, docs []bson.RawValue) (out []model.Write) {
	var unset bson.D
	for _, path := range c.places() {
		unset = append(unset, bson.E{Key: path, Value: ""})
	}
	for _, id := range docs {
		out = append(out, c.updateDoc(id, c.matchSource(s), c.counting(bson.D{{Key: "$unset", Value: unset}})))
	}
	return out
}

// operators returns the update of c.update as a document of operators.
func (c *Copying) operators(s source) bson.D {
	var set, unset bson.D
	c.eachField(s, nil, func(path string, v bson.RawValue) {
		if v.Type == 0 {
			unset = append(unset, bson.E{Key: path, Value: ""})
		} else {
			set = append(set, bson.E{Key: path, Value: v})
		}
	})
	var out bson.D
	if len(set) > 0 {
		out = append(out, bson.E{Key: "$set", Value: set})
	}
	if len(unset) > 0 {
		out = append(out, bson.E{Key: "$unset", Value: unset})
	}
	return c.counting(out)
}

func (c *Copying) updateDoc(id bson.RawValue, match, update bson.D) model.Write {
	return commands.UpdateIf(c.to.Name(), append(commands.ByID(id), match...), update)
}

// updateListed returns the updates of documents by their _ids.
func (c *Copying) updateListed(docs []bson.RawValue, match bson.D, update any) (steps []model.Step) {
	for part := range slices.Chunk(docs, maxListed) {
		steps = append(steps, model.Write{
			Collection: c.to.Name(), Once: true, Index: model.IDIndex,
			Model: &mongo.UpdateManyModel{Filter: append(commands.AmongIDs(mql.A(part)), match...), Update: update},
		})
	}
	return steps
}
