package checks

import (
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	keyedPlaces = geofield.NewField(anything, "loc", "geo", geofield.FieldSpec{
		Prefix: []string{"kind"}, Suffix: []string{"stars"}, Ranges: 2, Sphere: true,
	})
	namedPlaces = geofield.NewField(anything, "loc", "hash", geofield.FieldSpec{Text: true, Ranges: 2})

	louvre   = geohash.Point{Lat: 48.8606, Lng: 2.3376}
	aroundIt = geohash.Circle{Center: louvre, Meters: 1000}
	fiji     = geohash.Box{South: -20, West: 176, North: -12, East: -178}
)

func init() {
	register(fieldWrites()...)
	register(fieldReads()...)
}

// placed is a document of a place.
func placed(s string, more ...bson.E) bson.D {
	at := roomy(bson.D{{Key: "type", Value: "Point"}, {Key: "coordinates", Value: roomy(bson.A{louvre.Lng, louvre.Lat})}})
	return roomy(append(bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "loc", Value: at}}, more...))
}

func fieldWrites() []Case {
	write := func(method, reason string, call func(doc bson.D) any) Case {
		return Case{Method: "geofield.Field." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			doc := placed(s)
			return []any{doc}, func() any { return call(doc) }
		}}
	}
	raws := func(s string) any {
		wrong, err := bson.Marshal(placed(s, bson.E{Key: "geo", Value: int64(7)}))
		if err != nil {
			panic(err)
		}
		gone, err := bson.Marshal(bson.D{{Key: "_id", Value: s}, {Key: "geo", Value: s}})
		if err != nil {
			panic(err)
		}
		return []bson.Raw{wrong, gone}
	}
	return []Case{
		write("Complete", "an insert with a number", func(doc bson.D) any {
			return keyedPlaces.Complete(anything.Insert(doc))
		}),
		write("Complete", "an insert with a text", func(doc bson.D) any {
			return namedPlaces.Complete(anything.Insert(doc))
		}),
		write("Complete", "a replacement", func(doc bson.D) any { return keyedPlaces.Complete(anything.Replace(doc)) }),
		{Method: "geofield.Field.Complete", Reason: "another key is refused", From: func(s string) ([]any, func() any) {
			doc := placed(s, bson.E{Key: "geo", Value: int64(7)})
			return []any{doc}, func() any { return keyedPlaces.Complete(anything.Insert(doc)) }
		}},
		{Method: "geofield.Field.Complete", Reason: "an upsert of one's own", From: func(s string) ([]any, func() any) {
			update, upsert := bson.D{{Key: "$setOnInsert", Value: placed(s)[1:]}}, true
			return []any{update}, func() any {
				return keyedPlaces.Complete(model.Write{
					Collection: "anything",
					Model:      &mongo.UpdateOneModel{Filter: bson.D{}, Update: update, Upsert: &upsert},
				})
			}
		}},
		write("Complete", "a document that Completed made", func(doc bson.D) any {
			d, err := keyedPlaces.Completed(doc)
			if err != nil {
				panic(err)
			}
			return keyedPlaces.Complete(anything.Insert(d))
		}),
		{Method: "geofield.Field.Complete", Reason: "an update of the point", From: func(s string) ([]any, func() any) {
			filter, update := bson.D{{Key: "name", Value: s}}, bson.D{
				{Key: "$set", Value: placed(s)[1:]},
				{Key: "$push", Value: bson.D{{Key: "log", Value: s}}},
			}
			return []any{filter, update}, func() any {
				return keyedPlaces.Complete(anything.Update(s, update))
			}
		}},
		{Method: "geofield.Field.Complete", Reason: "a key alone is refused", From: func(s string) ([]any, func() any) {
			update := bson.D{{Key: "$set", Value: bson.D{{Key: "geo", Value: s}}}}
			return []any{update}, func() any {
				return keyedPlaces.Complete(model.Write{
					Collection: "anything",
					Model:      &mongo.UpdateManyModel{Filter: bson.D{}, Update: update},
				})
			}
		}},
		{
			Method: "geofield.Field.Checks", Reason: "keys that aren't their points'",
			Make: func(string) any { return keyedPlaces.Checks()[0] },
		},
		mendsOf("geofield.Field.Checks", "a wrong key, one without a point", keyedPlaces.Checks()[0], func(s string) []any {
			return []any{placed(s, bson.E{Key: "geo", Value: s}), bson.M{"_id": s + "2", "geo": s}, bson.M{"_id": s, "loc": s}}
		}),
		{
			Method: "geofield.Field.Rebuild", Reason: "numbers",
			Make:  func(string) any { return keyedPlaces.Rebuild() },
			State: raws,
		},
		{
			Method: "geofield.Field.Rebuild", Reason: "texts",
			Make:  func(string) any { return namedPlaces.Rebuild() },
			State: raws,
		},
	}
}

func fieldReads() []Case {
	read := func(method, reason string, call func(kind bson.D) any) Case {
		return Case{Method: "geofield.Field." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			kind := roomy(bson.D{{Key: "kind", Value: s}, {Key: "name", Value: roomy(bson.D{{Key: "$gt", Value: s}})}})
			return []any{kind}, func() any { return call(kind) }
		}}
	}
	return []Case{
		read("Within", "a circle", func(kind bson.D) any { return keyedPlaces.Within(aroundIt, kind).Find }),
		read("Within", "a box across the antimeridian", func(kind bson.D) any { return keyedPlaces.Within(fiji, kind).Find }),
		read("Within", "a box that ends at it", func(kind bson.D) any {
			return namedPlaces.Within(geohash.Box{South: 50, West: 170, North: 51, East: 180}, kind).Find
		}),
		read("Within", "texts", func(kind bson.D) any { return namedPlaces.Within(aroundIt, kind).Find }),
		read("Within", "texts to the last", func(kind bson.D) any {
			return namedPlaces.Within(geohash.Circle{Meters: 3e7}, kind).Find
		}),
		{
			Method: "geofield.Field.Within",
			Reason: "a field of the index without a condition is refused",
			Make:   func(string) any { return keyedPlaces.Within(aroundIt).Find },
		},
		{
			Method: "geofield.Field.Within", Reason: "a circle that is none is refused",
			Make: func(string) any { return namedPlaces.Within(geohash.Circle{Meters: -1}).Find },
		},
		read("Keys", "of a circle", func(kind bson.D) any { return keyedPlaces.Keys(aroundIt, kind) }),
		read("Nearest", "the first circle", func(kind bson.D) any {
			return keyedPlaces.Nearest(louvre, geofield.NearestSpec{Where: kind}, geofield.Mark{}, 3).First
		}),
		read("Nearest", "the page after a place: a ring", func(kind bson.D) any {
			return namedPlaces.Nearest(louvre, geofield.NearestSpec{Start: 2000, Where: kind},
				geofield.Mark{Meters: 1000, ID: rawValue("a")}, 3).First
		}),
		read("Clusters", "by numbers", func(kind bson.D) any { return keyedPlaces.Clusters(aroundIt, 32, kind) }),
		read("Clusters", "by texts", func(kind bson.D) any { return namedPlaces.Clusters(aroundIt, 30, kind) }),
		{
			Method: "geofield.Field.Indexes",
			Reason: "between other fields, and one on the sphere",
			Make:   func(string) any { return keyedPlaces.Indexes() },
		},
	}
}
