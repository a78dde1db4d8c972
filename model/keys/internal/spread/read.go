package spread

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Point fills in the query of the documents that have a value and a value of By:
//
//	{day: "2014-03-28#000", _id: "e1"}
//	{day: {$in: ["2014-03-28#000", "2014-03-28"]}, _id: "e1"} // if Was contains 0
//
// keys.Spread.Point passes a new query. Errors are in the query's Err, which its run returns.
func (k *Keys) Point(q *model.Query, value string, by any) {
	keys, raw, err := k.listPointKeys(value, by)
	if err != nil {
		q.Err = err
		return
	}
	q.Filter = bson.D{{Key: k.path, Value: matchKeys(keys)}, {Key: k.spec.By, Value: mql.Eq(raw)}}
	q.Index = model.IDIndex
	if k.spec.By != "_id" {
		q.Index = k.pointIndex().Name
	}
}

// listPointKeys returns the keys under which a document can be stored, one for each number of parts, and the encoded
// value of By. Two numbers of parts may give the same key.
func (k *Keys) listPointKeys(value string, by any) (keys []string, raw bson.RawValue, err error) {
	// Key also refuses a spread without By, and a value that a key can't contain.
	if _, err = k.Key(value, by); err != nil {
		return nil, raw, err
	}
	if raw, err = k.docs.Raw(by); err != nil {
		return nil, raw, err
	}
	n, err := k.hashRaw(raw)
	for _, parts := range k.counts {
		key := value // without a part, if Was contains 0
		if parts > 0 {
			key = formatKey(value, choosePart(n, parts))
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, raw, err
}

// matchKeys returns the condition on the key field. One key is an equality, as a person would write it.
func matchKeys(keys []string) any {
	if len(keys) == 1 {
		return keys[0]
	}
	return mql.Op("$in", mql.Array(keys))
}

// Find fills in the query of all documents of a value that also match the query's own filter, in the declared order. It
// lists the keys of all parts. The index has each part in order, and the server merges the parts of up to 200 keys. For
// a range of keys it would sort all documents in memory.
func (k *Keys) Find(q *model.Query, value string) {
	if err := k.checkValue(value); err != nil {
		q.Err = err
		return
	}
	var keys []string
	if slices.Contains(k.counts, 0) {
		keys = append(keys, value)
	}
	// The parts of the greatest number include the parts of all smaller numbers.
	for part := range slices.Max(k.counts) {
		keys = append(keys, formatKey(value, part))
	}
	q.Filter = bsondoc.JoinFilters(bson.D{{Key: k.path, Value: matchKeys(keys)}}, q.Filter)
	q.Sort, q.Index = slices.Clone(k.spec.Order), k.partIndex().Name
}
