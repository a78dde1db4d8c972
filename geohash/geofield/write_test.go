package geofield_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// wantField fails the test unless the error names a field.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var v *model.ValueError
	if !errors.As(err, &v) || v.Field != field || v.Collection != "cafes" {
		t.Errorf("got %v, want a *model.ValueError of %s", err, field)
	}
}

// loose are documents of any shape in the same collection.
var (
	loose    = model.NewCollection[bson.D, any]("cafes")
	looseKey = geofield.NewField(loose, "at.loc", "at.geo", geofield.FieldSpec{})
)

func looseDoc(loc any, more ...bson.E) bson.D {
	return bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: append(bson.D{{Key: "loc", Value: loc}}, more...)}}
}

func geo(kind any, coordinates ...any) bson.D {
	return bson.D{{Key: "type", Value: kind}, {Key: "coordinates", Value: bson.A(coordinates)}}
}

// What is stored is refused before anything is written, by the name of the field.
func TestInsertRefuses(t *testing.T) {
	t.Parallel()
	for reason, x := range map[string]struct {
		doc   bson.D
		field string
	}{
		"a latitude beyond the pole": {looseDoc(geo("Point", 5, 90.1)), "at.loc.coordinates.1"},
		"a longitude beyond 180":     {looseDoc(geo("Point", -180.5, 3)), "at.loc.coordinates.0"},
		"NaN":                        {looseDoc(geo("Point", math.NaN(), 3)), "at.loc.coordinates.0"},
		"infinity":                   {looseDoc(geo("Point", 3, math.Inf(1))), "at.loc.coordinates.1"},
		"a text":                     {looseDoc(geo("Point", 3, "4")), "at.loc.coordinates.1"},
		"one coordinate":             {looseDoc(geo("Point", 3)), "at.loc.coordinates"},
		"no coordinates":             {looseDoc(bson.D{{Key: "type", Value: "Point"}}), "at.loc.coordinates"},
		"another shape":              {looseDoc(geo("Polygon", 3, 4)), "at.loc.type"},
		"no type":                    {looseDoc(geo(nil, 3, 4)), "at.loc.type"},
		"an array":                   {looseDoc(bson.A{3, 4}), "at.loc"},
		"a number":                   {looseDoc(7), "at.loc"},
		"a point that was never set": {looseDoc(geo("Point", 0, 0)), "at.loc.coordinates"},
		"another point's key":        {looseDoc(geo("Point", 3, 4), bson.E{Key: "geo", Value: int64(5)}), "at.geo"},
		"a key of another type": {
			doc:   looseDoc(geo("Point", 3, 4), bson.E{Key: "geo", Value: float64(keyOf(geohash.Point{Lat: 4, Lng: 3}))}),
			field: "at.geo",
		},
		"a key without a point": {
			doc:   bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: bson.D{{Key: "geo", Value: int64(5)}}}},
			field: "at.geo",
		},
		"places in an array": {
			doc:   bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: bson.A{bson.D{{Key: "loc", Value: geo("Point", 3, 4)}}}}},
			field: "at.loc",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			for _, w := range []model.Write{looseKey.Complete(loose.Replace(x.doc)), looseKey.Complete(loose.Insert(x.doc))} {
				wantField(t, w.Err, x.field)
			}
		})
	}
	if w := byText.Complete(cafes.Insert(cafe{ID: 1})); w.Err != nil {
		t.Error("no point is refused:", w.Err)
	}
	texts := model.NewStore(model.New("cafes", byText), cafes)
	if err := texts.Set(1, bson.D{{Key: "loc", Value: geofield.Point{}}}).Err; err != nil {
		t.Error("the point of two zeros is refused where it is allowed:", err)
	}
	wantField(t, moved(1, geohash.Point{}).Err, "loc.coordinates")
	wantField(t, moved(1, geohash.Point{Lat: 91}).Err, "loc.coordinates.1")
}

// What a document stores.
func TestInsertStores(t *testing.T) {
	t.Parallel()
	key := int64(keyOf(geohash.Point{Lat: 4, Lng: 3}))
	stored := func(w model.Write) string {
		switch m := w.Model.(type) {
		case *mongo.InsertOneModel:
			return model.Shell(m.Document)
		case *mongo.ReplaceOneModel:
			return model.Shell(m.Replacement)
		}
		return w.String()
	}
	want := model.Shell(looseDoc(geo("Point", 3.0, 4.0), bson.E{Key: "geo", Value: key}))
	for reason, doc := range map[string]bson.D{
		"none before":  looseDoc(geo("Point", 3.0, 4.0)),
		"null before":  looseDoc(geo("Point", 3.0, 4.0), bson.E{Key: "geo", Value: nil}),
		"0 before":     looseDoc(geo("Point", 3.0, 4.0), bson.E{Key: "geo", Value: 0}),
		"right before": looseDoc(geo("Point", 3.0, 4.0), bson.E{Key: "geo", Value: key}),
	} {
		if got := stored(looseKey.Complete(loose.Insert(doc))); got != want {
			t.Errorf("%s: stores %s, want %s", reason, got, want)
		}
		if got := stored(looseKey.Complete(loose.Replace(doc))); got != want {
			t.Errorf("%s: replaces by %s, want %s", reason, got, want)
		}
	}
	for reason, x := range map[string]struct {
		w    model.Write
		want string
	}{
		"numbers and a height": {looseKey.Complete(loose.Insert(looseDoc(geo("Point", 3, int64(4), 100)))), "geo: "},
		"text": {
			w:    byText.Complete(cafes.Insert(cafe{ID: 1, Loc: geofield.Point{Lat: 4, Lng: 3}})),
			want: "hash: '" + geohash.Key(key).String() + "'",
		},
		"no place, no key": {byKey.Complete(cafes.Insert(cafe{ID: 1, Chain: "a"})), "geo: null"},
	} {
		if got := stored(x.w); x.w.Err != nil || !strings.Contains(got, x.want) {
			t.Errorf("%s: stores %s, %v; want %s", reason, got, x.w.Err, x.want)
		}
	}
}

// Other writes get the key with the point, or are refused.
func TestComplete(t *testing.T) {
	t.Parallel()
	point := geofield.Point{Lat: 4, Lng: 3}
	key := int64(keyOf(geohash.Point(point)))
	op := func(name string, fields ...any) bson.D {
		d := bson.D{}
		for i := 0; i < len(fields); i += 2 {
			d = append(d, bson.E{Key: fields[i].(string), Value: fields[i+1]})
		}
		return bson.D{{Key: name, Value: d}}
	}
	fields := op("$set", "loc", point, "geo", key)[0].Value.(bson.D)
	whole := bson.D{{Key: "$set", Value: fields}}
	for _, x := range []struct {
		reason  string
		update  any
		want    any
		refused string
	}{
		{"the point alone", op("$set", "loc", point), whole, ""},
		{"with its key", whole, whole, ""},
		{"where it is inserted", op("$setOnInsert", "loc", point), bson.D{{Key: "$setOnInsert", Value: fields}}, ""},
		{"something else", op("$inc", "seats", 1), op("$inc", "seats", 1), ""},
		{"taken away", op("$unset", "loc", ""), op("$unset", "loc", "", "geo", ""), ""},
		{"taken away whole", op("$unset", "geo", "", "loc", ""), op("$unset", "geo", "", "loc", ""), ""},
		{"with another key", op("$set", "loc", point, "geo", key+1), nil, "geo"},
		{"a key alone", op("$set", "geo", key), nil, "geo"},
		{"a key alone, taken away", op("$unset", "geo", ""), nil, "geo"},
		{"a coordinate", op("$set", "loc.coordinates.1", 4), nil, "loc.coordinates.1"},
		{"by another operator", op("$inc", "geo", 1), nil, "geo"},
		{"renamed onto it", op("$rename", "old", "loc"), nil, "old"},
		{"renamed away", op("$rename", "loc", "old"), nil, "loc"},
		{"no coordinates", op("$set", "loc", 4), nil, "loc"},
		{"null", op("$set", "loc", nil), nil, "loc"},
		{"beyond the pole", op("$set", "loc", geofield.Point{Lat: 95}), nil, "loc.coordinates.1"},
		{"a pipeline", mongo.Pipeline{op("$set", "loc", point)}, nil, "update"},
	} {
		t.Run(x.reason, func(t *testing.T) {
			for _, m := range []mongo.WriteModel{
				&mongo.UpdateOneModel{Filter: bson.D{{Key: "_id", Value: 1}}, Update: x.update},
				&mongo.UpdateManyModel{Filter: bson.D{}, Update: x.update},
			} {
				before := model.Shell(x.update)
				w := byKey.Complete(model.Write{Collection: "cafes", Model: m})
				if x.refused != "" {
					wantField(t, w.Err, x.refused)
					continue
				}
				var got any
				switch m := w.Model.(type) {
				case *mongo.UpdateOneModel:
					got = m.Update
				case *mongo.UpdateManyModel:
					got = m.Update
				}
				if model.Shell(got) != model.Shell(x.want) || w.Err != nil || model.Shell(x.update) != before {
					t.Errorf("became %v, %v", w, w.Err)
				}
			}
		})
	}
	refused := errors.New("refused before")
	if w := byKey.Complete(model.Refused("cafes", refused)); w.Err != refused {
		t.Error("a refused write becomes", w.Err)
	}
	wantField(t, byKey.Complete(model.Write{Collection: "bars"}).Err, "Collection")
	if w := byKey.Complete(cafes.Delete(1)); w.Err != nil || w.String() != cafes.Delete(1).String() {
		t.Error("a delete becomes", w)
	}
}

func TestPoint(t *testing.T) {
	t.Parallel()
	type doc struct {
		At   geofield.Point  `bson:"at"`
		Also *geofield.Point `bson:"also,omitempty"`
		Zero geofield.Point  `bson:"zero,omitempty"`
	}
	in := doc{At: geofield.Point{Lat: -16.8, Lng: 180}, Also: &geofield.Point{Lat: 1, Lng: -2}}
	raw, err := bson.Marshal(in)
	if err != nil ||
		model.Shell(bson.Raw(raw)) != "{at: {type: 'Point', coordinates: [Double(180), -16.8]}, also: {type: 'Point', coordinates: [Double(-2), Double(1)]}}" {
		t.Errorf("stored as %s, %v", model.Shell(bson.Raw(raw)), err)
	}
	var out doc
	if err := bson.Unmarshal(raw, &out); err != nil || out.At != in.At || *out.Also != *in.Also {
		t.Errorf("read as %+v, %v", out, err)
	}
	for reason, x := range map[string]struct {
		stored any
		ok     bool
	}{
		"a height": {geo("Point", 2, int64(1), 300.5), true}, "null": {nil, true},
		"beyond the pole": {geo("Point", 2, 100), true}, "a line": {geo("LineString", 1, 2), false}, "a text": {"1,2", false},
		"one number": {geo("Point", 1), false},
	} {
		raw, err := bson.Marshal(bson.D{{Key: "at", Value: x.stored}})
		if err != nil {
			t.Fatal(err)
		}
		var got doc
		if err := bson.Unmarshal(raw, &got); (err == nil) != x.ok {
			t.Errorf("%s: read as %+v, %v", reason, got, err)
		}
	}
}

// Whatever a document says of its place: it is refused, or stored with the key of its point.
func FuzzInsert(f *testing.F) {
	seed := func(loc any, key any) {
		raw, err := bson.Marshal(bson.D{
			{Key: "_id", Value: 1},
			{Key: "at", Value: bson.D{{Key: "loc", Value: loc}, {Key: "geo", Value: key}}},
		})
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	seed(geo("Point", 2.5, 48.5), nil)
	seed(geo("Point", 180, -90), int64(0))
	seed(geo("Point", 200, -90), int64(7))
	seed(bson.A{1, 2}, "x")
	seed(nil, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		var doc bson.D
		if bson.Unmarshal(data, &doc) != nil {
			return
		}
		w := looseKey.Complete(loose.Insert(doc))
		if w.Err != nil {
			return
		}
		raw := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
		loc, _ := core.ValueAt(raw, "at.loc")
		key, _ := core.ValueAt(raw, "at.geo")
		if loc.Type == 0 || loc.Type == bson.TypeNull {
			if key.Type != 0 && key.Type != bson.TypeNull {
				t.Errorf("a key without a point: %s", model.Shell(raw))
			}
			return
		}
		var p geofield.Point
		if err := p.UnmarshalBSONValue(byte(loc.Type), loc.Value); err != nil {
			t.Fatalf("stored is %s: %v", model.Shell(raw), err)
		}
		if want, err := geohash.Encode(geohash.Point(p)); err != nil || key.Type != bson.TypeInt64 ||
			key.Int64() != int64(want) {
			t.Errorf("stored is %s, want key %d, %v", model.Shell(raw), want, err)
		}
	})
}
