package indexes

import (
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readGeo reads the options of 2dsphere and 2d indexes. A 2dsphere index is on the globe (kind Sphere), a 2d index on a
// plane (kind Plane). The keys of both are cells of a grid, which package geo computes.
func readGeo(a *args.Reader, s *store.IndexSpec) error {
	sphere, plane := 0, 0
	for _, f := range s.Fields {
		switch f.Kind {
		case store.Sphere:
			sphere++
		case store.Plane:
			plane++
		}
	}
	// An option of another kind is refused, as MongoDB does.
	if sphere == 0 {
		a.Refuse("2dsphereIndexVersion")
	}
	if plane == 0 {
		a.Refuse("bits")
		a.Refuse("min")
		a.Refuse("max")
	}
	switch {
	case a.Err != nil:
		return a.Err
	case sphere+plane == 0:
		return nil
	// The rules of MongoDB come before those of the engine, so that the error is MongoDB's where it has one.
	case plane > 1:
		return mongoerr.New(16800, "can't have 2 geo fields")
	case plane > 0 && s.Fields[0].Kind != store.Plane:
		return mongoerr.New(16801, "2d has to be first in index")
	case sphere > 1 || sphere+plane > 1:
		return mongoerr.New(mongoerr.NotImplemented,
			"an index with two geospatial fields isn't implemented by the embedded engine: %s", store.Show(s.Key))
	case plane > 0:
		return readPlane(a, s)
	}
	return readSphere(a, s)
}

// readSphere reads the version of a 2dsphere index, and gives s its grid and the function that derives its keys. The
// versions 2 and 3 differ on a server only in what they store. Version 1 indexes other documents, so it is refused.
func readSphere(a *args.Reader, s *store.IndexSpec) error {
	version := a.Integer("2dsphereIndexVersion", 3)
	switch {
	case a.Err != nil:
		return a.Err
	case version < 1 || version > 3:
		return mongoerr.New(mongoerr.CannotCreateIndex,
			"unsupported geo index version { 2dsphereIndexVersion : %d }, only support versions: [1,2,3]", version)
	case version == 1:
		return mongoerr.New(mongoerr.NotImplemented, "2dsphereIndexVersion 1 isn't implemented by the embedded engine")
	}
	s.Extra = append(s.Extra, bson.E{Key: "2dsphereIndexVersion", Value: int32(version)})
	// One geometry may be in many cells, and a document may have several geometries. The store has a key for each cell.
	path := s.Field(store.Sphere).Path
	s.Grid = geo.SphereGrid
	s.Derive = func(doc bson.D) ([]any, error) {
		var list []*geo.Geometry
		readValue := func(v any) error {
			g, err := readShape(doc, v)
			if g != nil {
				list = append(list, g)
			}
			return err
		}
		err := walkPath(doc, path, readValue)
		return convertCells(s.Grid.CellsOf(list)), err
	}
	return nil
}

// readShape reads a value of a field with a 2dsphere index, nil if it is null, absent or empty. doc is the document,
// for errors. MongoDB refuses to store a document whose value isn't a shape on the globe.
func readShape(doc bson.D, v any) (*geo.Geometry, error) {
	if a, isArray := v.(bson.A); bsonval.IsNullish(v) || isArray && len(a) == 0 {
		return nil, nil
	}
	g, err := geo.Parse(v)
	switch {
	case err != nil:
		return nil, mongoerr.New(16755, "Can't extract geo keys: %s  %s", store.Show(doc), readMessage(err))
	case !g.OnSphere():
		return nil, mongoerr.New(16756, "Can't extract geo keys: %s  can't project geometry into spherical CRS: %s",
			store.Show(doc), store.Show(v))
	}
	return g, nil
}

// convertCells returns the numbers of cells as keys of an index. The store wants any value.
func convertCells(cells []int32) []any {
	out := make([]any, len(cells))
	for i, c := range cells {
		out[i] = c
	}
	return out
}

// readMessage returns the message of an error without its code, to quote it in another error.
func readMessage(err error) string {
	if x, ok := err.(*mongoerr.Error); ok {
		return x.Message
	}
	return err.Error()
}

// readPlane reads the options of a 2d index, and gives s its grid and the function that derives its keys
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/geospatial/2d/). It reads the range of a 2d index's
// coordinates, from min to max on both axes, and their bits. On a server the bits decide how fine the index is. Here
// they are only checked and shown.
func readPlane(a *args.Reader, s *store.IndexSpec) error {
	bits, low, high := 26.0, -180.0, 180.0 // MongoDB's defaults
	for _, o := range []struct {
		name string
		into *float64
	}{{"bits", &bits}, {"min", &low}, {"max", &high}} {
		v, ok := a.Get(o.name)
		if !ok {
			continue
		}
		x, isNumber := bsonval.Float(v)
		if !isNumber {
			a.RefuseType(o.name, v, "number")
			return a.Err
		}
		*o.into = x
		s.Extra = append(s.Extra, bson.E{Key: o.name, Value: v})
	}
	switch {
	case !(bits >= 1 && bits <= 32):
		return mongoerr.New(mongoerr.InvalidOptions,
			"bits for hash must be > 0 and <= 32, but %v bits were specified", bits)
	case !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0):
		return mongoerr.New(mongoerr.InvalidOptions,
			"region for hash must be valid and have positive area, but [%v, %v] was specified", low, high)
	}
	// The grid divides this range into cells.
	path := s.Field(store.Plane).Path
	s.Grid = geo.NewPlaneGrid(low, high)
	s.Derive = func(doc bson.D) ([]any, error) {
		var list []*geo.Geometry
		err := walkPath(doc, path, func(v any) error {
			found, err := readPairs(v, low, high)
			list = append(list, found...)
			return err
		})
		return convertCells(s.Grid.CellsOf(list)), err
	}
	return nil
}

// readPairs reads a value of a field with a 2d index: a coordinate pair, or an array of such pairs. A pair is an array
// or a document of two numbers from low to high. Any other value has no pairs: the document is stored, and isn't in the
// index.
func readPairs(v any, low, high float64) (list []*geo.Geometry, err error) {
	values, err := geo.Elements(v)
	if err != nil || len(values) == 0 {
		return nil, nil
	}
	if bsonval.IsNumber(values[0]) { // v is a pair itself
		values = bson.A{v}
	}
	for _, x := range values {
		inner, err := geo.Elements(x)
		switch {
		case err != nil:
			return nil, mongoerr.New(16804, "location object expected, location array not in correct format")
		case len(inner) == 0:
			return nil, mongoerr.New(13067, "geo field is empty")
		case len(inner) == 1:
			return nil, mongoerr.New(13068, "geo field only has 1 element")
		case !bsonval.IsNumber(inner[0]) || !bsonval.IsNumber(inner[1]):
			return nil, mongoerr.New(13026, "geo values must be 'legacy coordinate pairs' for 2d indexes")
		}
		for _, c := range inner[:2] {
			if f, _ := bsonval.Float(c); !(f >= low && f <= high) {
				return nil, mongoerr.New(13027, "point not in interval of [ %v, %v ] :: caused by :: %s",
					low, high, store.Show(x))
			}
		}
		g, err := geo.Parse(inner)
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// walkPath calls f with each value that a path leads to, through arrays on the way but not into one at its end: it may
// be a coordinate pair. A part of the path that is a number also stands for an element of an array.
func walkPath(v any, path []string, f func(v any) error) error {
	if len(path) == 0 {
		return f(v)
	}
	switch v := v.(type) {
	case bson.D:
		if x, ok := bsonval.Get(v, path[0]); ok {
			return walkPath(x, path[1:], f)
		}
	case bson.A:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			return walkPath(v[i], path[1:], f)
		}
		for _, x := range v {
			if d, ok := x.(bson.D); ok {
				if err := walkPath(d, path, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
