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

// readGeo reads the options of 2dsphere and 2d indexes.
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

// readSphere reads the version of a 2dsphere index, and derives its keys.
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
	path := s.Field(store.Sphere).Path
	s.Grid = geo.SphereGrid
	s.Derive = func(doc bson.D) ([]any, error) {
		var list []*geo.Geometry
		err := walkPath(doc, path, func(v any) error {
			if a, isArray := v.(bson.A); bsonval.IsNullish(v) || isArray && len(a) == 0 {
				return nil
			}
			g, err := geo.Parse(v)
			switch {
			case err != nil:
				return mongoerr.New(16755, "Can't extract geo keys: %s  %s", store.Show(doc), readMessage(err))
			case !g.OnSphere():
				return mongoerr.New(16756, "Can't extract geo keys: %s  can't project geometry into spherical CRS: %s",
					store.Show(doc), store.Show(v))
			}
			list = append(list, g)
			return nil
		})
		return convertCells(s.Grid.CellsOf(list)), err
	}
	return nil
}

// convertCells returns cells as keys of an index.
func convertCells(cells []int32) []any {
	out := make([]any, len(cells))
	for i, c := range cells {
		out[i] = c
	}
	return out
}

// readMessage returns the message of an error without its code.
func readMessage(err error) string {
	if x, ok := err.(*mongoerr.Error); ok {
		return x.Message
	}
	return err.Error()
}

// readPlane reads the range of a 2d index's coordinates, and their bits, which only a server's speed depends on.
func readPlane(a *args.Reader, s *store.IndexSpec) error {
	bits, low, high := 26.0, -180.0, 180.0
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
		return mongoerr.New(mongoerr.InvalidOptions, "bits for hash must be > 0 and <= 32, but %v bits were specified", bits)
	case !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0):
		return mongoerr.New(mongoerr.InvalidOptions,
			"region for hash must be valid and have positive area, but [%v, %v] was specified", low, high)
	}
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

// readPairs reads a coordinate pair, or an array of such pairs. What is no array and no document has none.
func readPairs(v any, low, high float64) (list []*geo.Geometry, err error) {
	values, err := geo.Elements(v)
	if err != nil || len(values) == 0 {
		return nil, nil
	}
	if bsonval.IsNumber(values[0]) {
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
				return nil, mongoerr.New(13027, "point not in interval of [ %v, %v ] :: caused by :: %s", low, high, store.Show(x))
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

// walkPath calls f with each value that a path leads to, through arrays on the way but not into one at its end.
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
