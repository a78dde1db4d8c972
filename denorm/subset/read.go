package subset

import (
	"cmp"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// makeElement returns the element of a child.
func (s *untypedSubset) makeElement(child bson.Raw) (bson.RawValue, error) {
	if path, err := core.CheckNames(child, ""); err != nil {
		return bson.RawValue{}, s.docs.Refuse(path, nil, err.Error())
	}
	if s.whole {
		return core.MustRawValue(s.docs.StoreField().RemoveFrom(child)), nil
	}
	paths := append([]string{"_id"}, s.copies...)
	held, err := stored.ValuesAt(s.docs, child, paths)
	return core.MustRawValue(stored.NestValues(paths, held)), err
}

// checkSortFields refuses a child that lacks a field of By: a page that begins after
// another child would never show it.
func (s *untypedSubset) checkSortFields(child bson.Raw) error {
	for _, e := range s.by {
		if v, err := stored.ValueAt(s.docs, child, e.Key); err != nil {
			return err
		} else if v.Type == 0 || v.Type == bson.TypeNull {
			return s.docs.Refuse(e.Key, nil, "is missing or null in the child, but By sorts by it")
		}
	}
	return nil
}

// readParent returns the _id of a child's parent; type 0 for none.
func (s *untypedSubset) readParent(child bson.Raw) (bson.RawValue, error) {
	v, err := stored.ValueAt(s.docs, child, s.ref)
	if err != nil || v.Type == bson.TypeNull {
		return bson.RawValue{}, err
	}
	if v.Type != 0 && !stored.IsKey(v) {
		return v, s.docs.Refuse(s.ref, v, "can't be an _id")
	}
	return bsonval.Clone(v), nil
}

// readLastPlace returns the sort values of the last element of a parent, or nil if the
// array is empty.
func (s *untypedSubset) readLastPlace(parent any) ([]any, error) {
	doc, err := stored.EncodeReadDocument(s.parents, parent)
	if err != nil {
		return nil, err
	}
	v, err := stored.ValueAt(s.parents, doc, s.path)
	list := core.Elements(v)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	last, ok := list[len(list)-1].DocumentOK()
	if !ok {
		return nil, s.parents.Refuse(s.path, nil, "an element is not a document")
	}
	values := make([]any, len(s.by))
	for i, e := range s.by {
		if values[i], err = stored.ValueAt(s.docs, last, e.Key); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// compareStages returns the stages that give, for each parent, the stored array and the
// array that its children make. A child that an unfinished action deletes doesn't count.
func (s *untypedSubset) compareStages() mongo.Pipeline {
	first := mql.Lookup(s.docs.Name(), "_id", s.ref, "want")
	args := first[0].Value.(bson.D)
	children := mongo.Pipeline{
		mql.Match(mql.E(s.docs.StoreField().Deletes(), mql.Exists(false))), {{Key: "$sort", Value: s.makeSort("")}},
		{{Key: "$limit", Value: int64(s.max)}},
	}
	want := any(1)
	if s.whole {
		children = append(children, mql.Op("$unset", string(s.docs.StoreField())))
	} else {
		want = mql.Map("$want", "child", stored.NestPaths(append([]string{"_id"}, s.copies...), "$$child."))
	}
	first[0].Value = append(args, bson.E{Key: "pipeline", Value: children})
	return mongo.Pipeline{
		mql.Project(mql.E("found", "$"+s.path), mql.E("tokens", "$"+s.parents.StoreField().Tokens())),
		first,
		mql.Project(mql.E("found", 1), mql.E("want", want), mql.E("tokens", 1)),
	}
}

// findChildren sets a query to all children of a parent, in order.
func (s *untypedSubset) findChildren(q *model.Query, parent any) {
	id, err := s.parents.RawID("_id", parent)
	q.Filter, q.Sort, q.Index = bson.D{{Key: s.ref, Value: mql.Eq(id)}}, s.makeSort(""), s.listIndexes()[0].Name
	if err != nil {
		q.Err = err
	}
}

// findRest is findChildren for a parent that the caller read. It returns the
// sort values of the parent's last element, after which the query must continue; nil for
// none.
func (s *untypedSubset) findRest(q *model.Query, parent any) []any {
	id, err := s.parents.ID(parent)
	s.findChildren(q, id)
	values, errLast := s.readLastPlace(parent)
	if q.Err = cmp.Or(err, errLast); q.Err != nil {
		return nil
	}
	return values
}
