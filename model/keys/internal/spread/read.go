package spread

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// bsonLookup is what a document holds at a path outside arrays; type 0 for nothing.
func bsonLookup(doc bson.Raw, path string) (bson.RawValue, error) {
	if err := doc.Validate(); err != nil {
		return bson.RawValue{}, err
	}
	return bsonval.Clone(doc.Lookup(strings.Split(path, ".")...)), nil
}

// Point makes a query one of a value's documents with a value of By: in one part, or one for each number of parts.
func (k *Keys) Point(q *model.Query, value string, by any) {
	keys, raw, err := k.pointKeys(value, by)
	if err != nil {
		q.Err = err
		return
	}
	q.Filter, q.Index = bson.D{{Key: k.path, Value: in(keys)}, {Key: k.spec.By, Value: mql.Eq(raw)}}, model.IDIndex
	if k.spec.By != "_id" {
		q.Index = k.pointIndex().Name
	}
}

func (k *Keys) pointKeys(value string, by any) (keys []string, raw bson.RawValue, err error) {
	if _, err = k.Key(value, by); err != nil {
		return nil, raw, err
	}
	if raw, err = k.docs.Raw(by); err != nil {
		return nil, raw, err
	}
	n, err := k.hashedRaw(raw)
	for _, parts := range k.all {
		name := value
		if parts > 0 {
			name = key(value, part(n, parts))
		}
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return keys, raw, err
}

// in matches some keys; one is matched by equality.
func in(keys []string) any {
	if len(keys) == 1 {
		return keys[0]
	}
	return mql.Op("$in", mql.Array(keys))
}

// Find makes a query one of all documents of a value, in order, which match the query's own filter too.
func (k *Keys) Find(q *model.Query, value string) {
	if err := k.checked(value); err != nil {
		q.Err = err
		return
	}
	var keys []string
	if slices.Contains(k.all, 0) {
		keys = append(keys, value)
	}
	for i := range slices.Max(k.all) {
		keys = append(keys, key(value, i))
	}
	q.Filter = bsondoc.JoinFilters(bson.D{{Key: k.path, Value: in(keys)}}, q.Filter)
	q.Sort, q.Index = k.Order(), k.index().Name
}
