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

// fetchListing asks for the sources that list a new document.
func (c *untypedCopy) fetchListing(w model.StoreWrite) ([]model.Fetch, error) {
	if w.After == nil {
		return nil, nil
	}
	return []model.Fetch{c.fetchListingSource(w.After.Lookup("_id"))}, nil
}

// fetchListingSource is the query of the sources that list a document.
func (c *untypedCopy) fetchListingSource(id bson.RawValue) model.Fetch {
	return model.Fetch{Collection: c.docs.Name(), ID: bsonval.Clone(id), By: c.spec.Listed, Paths: c.listFetchedPaths()}
}

// fillListed returns the copied fields of the first source that lists the new document.
func (c *untypedCopy) fillListed(w model.StoreWrite) (bson.D, error) {
	s := source{values: make([]bson.RawValue, len(c.fields))}
	if doc := w.Found(0); doc != nil {
		var err error
		if s, err = c.decodeSource(doc); err != nil {
			return nil, err
		}
	}
	return c.appendCopy(nil, "", s), nil
}

// holdListing holds the source of a new document in a transaction. So the transaction
// conflicts with others that change the source.
func (c *untypedCopy) holdListing(w model.StoreWrite) (a model.Answer, err error) {
	doc := w.Found(0)
	if !w.Tx || doc == nil {
		return a, nil
	}
	a.Then = []model.Step{
		commands.UpdateOne(c.docs.Name(), commands.MatchID(bsonval.Clone(doc.Lookup("_id"))),
			c.docs.StoreField().HoldUpdate()),
	}
	return a, nil
}

// correctListed returns the write that brings the copy in a new document up to date, if
// the source has changed since it was read.
func (c *untypedCopy) correctListed(w model.StoreWrite) ([]model.Step, error) {
	p, err := c.readCopy("", w.After)
	if err != nil {
		return nil, err
	}
	step, err := c.correctCopy(w, p.held, w.Found(0))
	if step == nil {
		return nil, err
	}
	return []model.Step{step}, err
}

// A listChange compares a source before and after a write. added and removed are _ids of
// documents that it lists.
type listChange struct {
	was, now       source
	isNew          bool
	added, removed []bson.RawValue
}

// readListChange compares a source before and after a write. For an insert, all listed
// documents are added.
func (c *untypedCopy) readListChange(w model.StoreWrite) (x listChange, err error) {
	if x.now, err = c.decodeSource(w.After); err != nil {
		return x, err
	}
	if x.isNew = w.Before == nil; !x.isNew {
		if x.was, err = c.decodeSource(w.Before); err != nil {
			return x, err
		}
	}
	x.added, x.removed = stored.SubtractValues(x.now.listed, x.was.listed),
		stored.SubtractValues(x.was.listed, x.now.listed)
	return x, nil
}

// fetchListed asks for the documents that a source lists newly, which must exist. It also
// asks for the other sources that list the removed documents. updateListedCopies finds
// both by this order.
func (c *untypedCopy) fetchListed(w model.StoreWrite) (out []model.Fetch, err error) {
	if w.After == nil {
		return nil, nil
	}
	x, err := c.readListChange(w)
	for _, id := range x.added {
		out = append(out, model.Fetch{
			Collection: c.to.Name(), ID: bsonval.Clone(id),
			Missing: &model.ReferenceError{
				Collection: c.docs.Name(), Path: c.spec.Listed, To: c.to.Name(), Value: bsonval.Clone(id),
			},
		})
	}
	for _, id := range x.removed {
		out = append(out, c.fetchListingSource(id))
	}
	return out, err
}

// updateListedCopies returns the writes of the listed documents. A document that the
// source doesn't list any more gets the copy of another source that lists it, or no copy.
func (c *untypedCopy) updateListedCopies(w model.StoreWrite) (a model.Answer, err error) {
	if w.After == nil {
		return a, nil
	}
	x, err := c.readListChange(w)
	if err != nil {
		return a, err
	}
	a.Once = c.assignCopy(x.now, x.added)
	if !x.isNew && !c.isSameCopy(x.was, x.now) {
		a.Then = append(a.Then, c.propagateSource(x.now)...)
	}
	var alone []bson.RawValue
	for i, id := range x.removed {
		others := w.FoundAll(len(x.added) + i)
		j := slices.IndexFunc(others, func(doc bson.Raw) bool { return !bsonval.EqualRaw(doc.Lookup("_id"), x.now.id) })
		if j < 0 {
			alone = append(alone, id)
			continue
		}
		s, err := c.decodeSource(others[j])
		if err != nil {
			return a, err
		}
		a.Once = append(a.Once, c.assignCopy(s, []bson.RawValue{id})...)
	}
	a.Once = append(a.Once, c.clearCopy(x.was, alone)...)
	return a, nil
}

// assignCopy returns updates that store the copy of a source in documents, whatever copy
// they have: versions of two sources can't be compared. A late repetition could overwrite
// a newer copy, so the updates must run at most once.
func (c *untypedCopy) assignCopy(s source, docs []bson.RawValue) (out []model.Write) {
	for _, id := range docs {
		out = append(out, c.updateHolder(id, nil, c.encodeOperators(s)))
	}
	return out
}

// clearCopy removes the copy of a source from documents that still have exactly this
// copy.
func (c *untypedCopy) clearCopy(s source, docs []bson.RawValue) (out []model.Write) {
	var unset bson.D
	for _, path := range c.listCopyPaths() {
		unset = append(unset, bson.E{Key: path, Value: ""})
	}
	for _, id := range docs {
		out = append(out, c.updateHolder(id, c.matchSource(s), c.addCountUp(bson.D{{Key: "$unset", Value: unset}})))
	}
	return out
}

// encodeOperators returns the update of encodeUpdate as a bson.D, to which the store can
// add its token.
func (c *untypedCopy) encodeOperators(s source) bson.D {
	var set, unset bson.D
	put := func(path string, v bson.RawValue) {
		if v.Type == 0 {
			unset = append(unset, bson.E{Key: path, Value: ""})
		} else {
			set = append(set, bson.E{Key: path, Value: v})
		}
	}
	c.visitFields(s, put)
	var out bson.D
	if len(set) > 0 {
		out = append(out, bson.E{Key: "$set", Value: set})
	}
	if len(unset) > 0 {
		out = append(out, bson.E{Key: "$unset", Value: unset})
	}
	return c.addCountUp(out)
}

func (c *untypedCopy) updateHolder(id bson.RawValue, match, update bson.D) model.Write {
	return commands.UpdateIf(c.to.Name(), append(commands.MatchID(id), match...), update)
}

// updateListed updates documents by their _ids, maxListed in a command.
func (c *untypedCopy) updateListed(docs []bson.RawValue, match bson.D, update any) (steps []model.Step) {
	for part := range slices.Chunk(docs, maxListed) {
		steps = append(steps, model.Write{
			Collection: c.to.Name(), Idempotent: true, Index: model.IDIndex,
			Model: &mongo.UpdateManyModel{Filter: append(commands.MatchIDs(mql.Array(part)), match...), Update: update},
		})
	}
	return steps
}
