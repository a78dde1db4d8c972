package geofield

import (
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Area is where to search: a [geohash.Circle], a [geohash.Box], or your own shape, such
// as a polygon. Cover must append to dst at most max ranges, sorted and disjoint. The
// ranges must contain the key of every point for which Contains returns true.
type Area interface {
	Cover(dst []geohash.Range, max int) []geohash.Range
	Contains(p geohash.Point) bool
	Validate() error
}

// Keys returns the query of the geohash keys in and around an area. Results also have the
// fields of FieldSpec.Prefix and Suffix. For filters, see [Field.Within].
//
// Cost: as [Field.Within], but the server reads only the index. DocumentDB, or conditions
// on other fields, make the server read documents.
func (f *Field[D, K]) Keys(area Area, filters ...bson.D) *model.Find[bson.Raw] {
	filter, err := f.f.within(area, false, filters)
	q := f.find(filter, err)
	q.Projection = bson.D{{Key: "_id", Value: 0}}
	for _, k := range f.f.indexKeys() {
		q.Projection = append(q.Projection, bson.E{Key: k.Key, Value: 1})
	}
	return &model.Find[bson.Raw]{Query: q.Query}
}

func (f *Field[D, K]) find(filter bson.D, err error) *model.Find[D] {
	q := f.owners.Find(filter)
	q.Index = f.f.index()
	if q.Err == nil {
		q.Err = err
	}
	return q
}

// within returns the filter of an area's cover, and of a box itself if exactly is set.
func (f *field) within(area Area, exactly bool, where []bson.D) (bson.D, error) {
	ranges, err := f.cover(area)
	if err != nil {
		return nil, err
	}
	own, rest, err := f.divide(where)
	if err != nil {
		return nil, err
	}
	filter := f.filter(ranges, own)
	if b, ok := area.(geohash.Box); ok && exactly {
		return bsondoc.JoinFilters(filter, f.inBox(b), rest), nil
	}
	return bsondoc.JoinFilters(filter, rest), nil
}

func (f *field) cover(area Area) ([]geohash.Range, error) {
	if area == nil {
		return nil, f.Refuse("area", nil, "is nil")
	}
	if err := area.Validate(); err != nil {
		return nil, f.badArea(err)
	}
	return area.Cover(nil, f.ranges), nil
}

func (f *field) badArea(err error) error {
	var c *geohash.CoordinateError
	if errors.As(err, &c) {
		return f.Refuse(c.Field, c.Value, c.Reason)
	}
	return f.Refuse("area", nil, err.Error())
}

// divide separates the conditions on fields of the index from other conditions.
func (f *field) divide(where []bson.D) (own, rest bson.D, err error) {
	for i, d := range where {
		v, err := f.Encode(d)
		if err != nil {
			return nil, nil, f.Refuse(fmt.Sprintf("filters[%d]", i), nil, err.Error())
		}
		copied, ok := v.(bson.D)
		if !ok { // nil
			continue
		}
		for _, e := range copied {
			if slices.Contains(f.prefix, e.Key) || slices.Contains(f.suffix, e.Key) {
				own = bsondoc.JoinFilters(own, bson.D{e})
			} else {
				rest = bsondoc.JoinFilters(rest, bson.D{e})
			}
		}
	}
	for _, name := range f.prefix {
		if !conditionOn(own, name) {
			return nil, nil, f.Refuse(name, nil, "is in the spec's Prefix, so the query needs a condition on this field")
		}
	}
	return own, rest, nil
}

// conditionOn reports whether a filter has a condition on a field, at the top or in $and.
func conditionOn(filter bson.D, name string) bool {
	return slices.ContainsFunc(filter, func(e bson.E) bool {
		list, _ := e.Value.(bson.A)
		return e.Key == name || e.Key == "$and" && slices.ContainsFunc(list, func(x any) bool {
			d, _ := x.(bson.D)
			return conditionOn(d, name)
		})
	})
}

// filter returns the filter of keys in ranges, with the conditions on other index fields
// in each range.
func (f *field) filter(ranges []geohash.Range, own bson.D) bson.D {
	switch len(ranges) {
	case 0:
		return bsondoc.JoinFilters(own, bson.D{{Key: f.key, Value: bson.D{{Key: "$in", Value: bson.A{}}}}})
	case 1:
		return bsondoc.JoinFilters(own, f.in(ranges[0]))
	}
	branches := make(bson.A, len(ranges))
	for i, r := range ranges {
		branches[i] = bsondoc.JoinFilters(own, f.in(r))
	}
	return bson.D{{Key: "$or", Value: branches}}
}

// in returns the filter of keys in one range.
func (f *field) in(r geohash.Range) bson.D {
	lo, hi, op := any(int64(r.Lo)), any(int64(r.Hi)), "$lt"
	if f.text {
		lo = short(r.Lo)
		if hi = short(r.Hi); r.Hi > lastKey {
			hi, op = lastKey.String(), "$lte"
		}
	}
	return bson.D{{Key: f.key, Value: bson.D{{Key: "$gte", Value: lo}, {Key: op, Value: hi}}}}
}

const lastKey geohash.Key = 1<<geohash.MaxBits - 1

// short returns the shortest text that sorts among geohashes of 12 characters as the key:
// without zeros at the end.
func short(k geohash.Key) string {
	s := k.String()
	for len(s) > 1 && s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	return s
}

// inBox returns the filter of coordinates in a box, as [geohash.Box.Contains]: 180 equals
// -180.
func (f *field) inBox(b geohash.Box) bson.D {
	lat, lng := f.point+".coordinates.1", f.point+".coordinates.0"
	between := func(path string, lo, hi float64) bson.D {
		return bson.D{{Key: path, Value: bson.D{{Key: "$gte", Value: lo}, {Key: "$lte", Value: hi}}}}
	}
	rows := between(lat, b.South, b.North)
	meridian := func(at float64) bson.D { return bson.D{{Key: lng, Value: at}} }
	var columns bson.A
	switch {
	case b.West > b.East:
		columns = bson.A{between(lng, b.West, 180), between(lng, -180, b.East)}
	case b.West == -180 && b.East == 180:
		return append(rows, between(lng, b.West, b.East)...)
	case b.West == -180:
		columns = bson.A{between(lng, b.West, b.East), meridian(180)}
	case b.East == 180:
		columns = bson.A{between(lng, b.West, b.East), meridian(-180)}
	default:
		return append(rows, between(lng, b.West, b.East)...)
	}
	return append(rows, bson.E{Key: "$or", Value: columns})
}
