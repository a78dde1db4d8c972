package subsetpages

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A state is what a change has read before it decides.
type state struct {
	End    bucket.End    // of Append: the newest page, and the page that holds the element
	Holder string        // of Set and Remove: the page that holds the element; "" for none
	Item   bson.RawValue // the element as the page holds it
	Held   bson.RawValue // the element as the parent's array holds it; type 0 if it doesn't
	Drift  *drift        // the parent's array and what the pages say; nil if that wasn't read, or there is no parent
}

// compareArrays returns stages that give a drift for each parent: its array as found, and
// the array that its pages make as want.
func (s *untypedSubset) compareArrays() mongo.Pipeline {
	first := mql.Lookup(s.in.Docs.Name(), "_id", "key", "want")
	first[0].Value = append(first[0].Value.(bson.D), bson.E{Key: "pipeline", Value: mongo.Pipeline{
		mql.Unwind("$items"), mql.ReplaceRoot("$items"), mql.Sort(s.copyOrder()...),
		{{Key: "$limit", Value: int64(s.max)}},
	}})
	return mongo.Pipeline{
		mql.Project(mql.E("found", "$"+s.path)),
		first,
	}
}

// readDrift reads a parent's drift. It returns nil without a parent.
func (s *untypedSubset) readDrift(ctx context.Context, db model.DB, id bson.RawValue) (*drift, error) {
	row, err := (&model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
		Collection: s.docs.Name(), Index: model.IDIndex,
		Pipeline: append(mongo.Pipeline{mql.Match(commands.MatchID(id)...)}, s.compareArrays()...),
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return &drift{row.Lookup("_id"), row.Lookup("found"), row.Lookup("want")}, err
}

// readItem reads an element in its page. Without a page, the state is empty.
func (s *untypedSubset) readItem(ctx context.Context, db model.DB, e bucket.Element) (st state, _ error) {
	items := bson.D{{
		Key:   "items",
		Value: mql.Op("$elemMatch", bson.D{{Key: s.in.Spec.ElementKey, Value: mql.Eq(e.ID)}}),
	}}
	page, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: s.in.Docs.Name(), Filter: s.in.MatchHolder(e), Projection: items, Index: s.in.MakeKeyIndex().Name,
		Keyed: s.in.Docs.IsKeyed(),
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	st.Holder = page.Lookup("_id").StringValue()
	if list := core.Elements(page.Lookup("items")); len(list) > 0 {
		st.Item = bsonval.Clone(list[0])
	}
	return st, nil
}

// readRepeated reads an element in the parent's array. It returns type 0 if the array
// lacks the element, or if the parent is missing.
func (s *untypedSubset) readRepeated(
	ctx context.Context, db model.DB, id bson.RawValue, e bucket.Element,
) (held bson.RawValue, _ error) {
	parent, err := commands.ReadOne(ctx, db, s.docs.Name(), commands.MatchID(id), commands.ProjectFields(s.path))
	if errors.Is(err, model.ErrNotFound) {
		return held, nil
	}
	for _, v := range core.Elements(parent.Lookup(strings.Split(s.path, ".")...)) {
		if bsonval.EqualRaw(stored.ElementAt(v, s.in.Spec.ElementKey), e.ID) {
			held = bsonval.Clone(v)
		}
	}
	return held, err
}

// findRest is the pipeline of a parent's pages, newest first, without the elements of the
// array of the parent that the caller read. n counts pages that have other elements.
func (s *untypedSubset) findRest(parent any, after string, n int64) (mongo.Pipeline, error) {
	id, err := s.docs.ID(parent)
	if err != nil {
		return nil, err
	}
	doc, err := stored.EncodeReadDocument(s.docs, parent)
	if err != nil {
		return nil, err
	}
	array, err := stored.ValueAt(s.docs, doc, s.path)
	if err != nil {
		return nil, err
	}
	filter, err := s.in.MatchKey(id)
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, s.docs.Refuse("n", n, "is negative")
	case after != "":
		pages := filter[0].Value.(bson.D)
		if after < pages[0].Value.(string) || after >= pages[1].Value.(string) {
			return nil, s.docs.Refuse("pageToken", after, "isn't the _id of a page of this parent")
		}
		filter = bson.D{{Key: "_id", Value: bson.D{pages[0], {Key: "$lt", Value: after}}}}
	}
	held := bson.A{}
	for _, v := range core.Elements(array) {
		held = append(held, bsonval.Clone(stored.ElementAt(v, s.in.Spec.ElementKey)))
	}
	others := mql.Op("$filter", bson.D{
		{Key: "input", Value: bucket.ListItems()}, {Key: "as", Value: "item"},
		{Key: "cond", Value: mql.Op("$not", bson.A{mql.Op("$in", "$$item."+s.in.Spec.ElementKey, mql.Literal(held))})},
	})
	p := mongo.Pipeline{
		mql.Match(filter...), mql.Sort(mql.E("_id", -1)), mql.Set(mql.E("items", others)),
		mql.Match(mql.E("items.0", mql.Exists(true))),
	}
	if n > 0 {
		p = append(p, bson.D{{Key: "$limit", Value: n}})
	}
	return p, nil
}

// changesOrder reports whether fields of an element decide its place in the order.
func (s *untypedSubset) changesOrder(set bson.D) bool {
	return slices.ContainsFunc(set, func(f bson.E) bool {
		return slices.ContainsFunc(s.by, func(by bson.E) bool { return core.Overlap(by.Key, f.Key) })
	})
}

// checkOrder refuses an element that lacks a field of By, because the order would depend
// on how the server compares null.
func (s *untypedSubset) checkOrder(item bson.RawValue) error {
	for _, e := range s.by {
		if v := stored.ElementAt(item, e.Key); v.Type == 0 || v.Type == bson.TypeNull {
			return s.in.Docs.Refuse("items[]."+e.Key, nil, "is missing or null in the element, but By sorts by it")
		}
	}
	return nil
}
