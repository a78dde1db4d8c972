package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What is found by its values: through tables of entries, as attributes, by place.
type (
	surfer struct {
		ID   int      `bson:"_id"`
		City string   `bson:"city,omitempty"`
		Tags []string `bson:"tags,omitempty"`
	}
	tableEntry struct {
		Key  tableKey `bson:"_id"`
		ID   int      `bson:"id"`
		Sure bool     `bson:"sure"`
	}
	tableKey struct {
		V  string `bson:"v"`
		ID int    `bson:"id"`
	}
)

var (
	surfers = model.NewCollection[surfer, int]("surfers")
	byCity  = indextable.New(surfers, "city", "surfersByCity", indextable.Spec{})
	byTags  = inverted.New(surfers, "by", "tags")

	cityStore = storeOf(byCity, surfers)
	tagStore  = storeOf(byTags, surfers)

	cityEntries = model.NewCollection[tableEntry, tableKey]("surfersByCity")
	tagEntries  = model.NewCollection[tableEntry, tableKey]("by.tags")
)

func entryOf(v string, id int) tableEntry { return tableEntry{tableKey{v, id}, id, true} }

func cityOf(i int) string { return fmt.Sprint("city ", (i-1)/children) }

// tables are n/2 documents, twenty to a city, and as many entries.
var tables = stock{
	name:    "an index table",
	indexes: []model.Technique{byCity},
	load: func(ctx context.Context, s *site) error {
		if err := fill(ctx, s, s.n/2, surfers.InsertMany, func(i int) surfer { return surfer{ID: i, City: cityOf(i)} }); err != nil {
			return err
		}
		return fill(ctx, s, s.n/2, cityEntries.InsertMany, func(i int) tableEntry { return entryOf(cityOf(i), i) })
	},
	trials: []trial{
		{"indextable.IndexTable", "Insert", "nothing", func(ctx context.Context, s *site) step {
			var d surfer
			return changing(ctx, s, func() model.ChangeOf[model.Stored[surfer]] {
				d = surfer{ID: s.fresh(), City: cityOf(s.one(s.n / 2))}
				return cityStore.Insert(d)
			}, func() error { return change(ctx, s, cityStore.Delete(d.ID)) })
		}},
		{"indextable.IndexTable", "Lookup of a value, 20 entries", "the entries", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Find[indextable.Entry[int]] {
				return byCity.Lookup(cityOf(s.one(s.n / 2 / children * children)))
			})
		}},
		{"indextable.IndexTable", "Documents of a value, 20", "the documents", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Aggregate[surfer] { return byCity.Documents(cityOf(s.one(s.n / 2 / children * children))) })
		}},
	},
	sound: func(ctx context.Context, s *site) error { return s.clean(ctx, byCity.Checks()) },
}

// clean expects that checks find nothing.
func (s *site) clean(ctx context.Context, checks []model.Check) error {
	for _, check := range checks {
		found, err := check.All(ctx, s.db)
		if err := expect(len(found), 0, err); err != nil {
			return err
		}
	}
	return nil
}

// tagsOf returns three tags, which 20, 60 and 180 documents have.
func tagsOf(i int) []string {
	g := (i - 1) / children
	return []string{fmt.Sprint("a", g), fmt.Sprint("b", g/3), fmt.Sprint("c", g/9)}
}

// tagged are n/3 documents, and n entries.
var tagged = stock{
	name:    "an inverted index",
	indexes: []model.Technique{byTags},
	load: func(ctx context.Context, s *site) error {
		if err := fill(ctx, s, s.n/3, surfers.InsertMany, func(i int) surfer { return surfer{ID: i, Tags: tagsOf(i)} }); err != nil {
			return err
		}
		return fill(ctx, s, s.n/3*3, tagEntries.InsertMany, func(i int) tableEntry {
			id := (i-1)/3 + 1
			return entryOf(tagsOf(id)[(i-1)%3], id)
		})
	},
	trials: []trial{
		{"inverted.Inverted", "Documents of all of three tags, 20 of 180", "the entries", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Aggregate[surfer] {
				t := tagsOf(s.one(s.n / 3 / children * children))
				return byTags.Documents(byTags.Is("tags", t[0]).And(byTags.Is("tags", t[1]), byTags.Is("tags", t[2])))
			})
		}},
		{"inverted.Inverted", "Insert with three tags", "the tags", func(ctx context.Context, s *site) step {
			var d surfer
			return changing(ctx, s, func() model.ChangeOf[model.Stored[surfer]] {
				d = surfer{ID: s.fresh(), Tags: tagsOf(s.one(s.n / 3))}
				return tagStore.Insert(d)
			}, func() error { return change(ctx, s, tagStore.Delete(d.ID)) })
		}},
	},
	sound: func(ctx context.Context, s *site) error { return s.clean(ctx, byTags.Checks()) },
}

// A spot has attributes, and is somewhere.
type (
	spot struct {
		ID    int            `bson:"_id"`
		Specs []spotSpec     `bson:"specs,omitempty"`
		At    geofield.Point `bson:"at"`
		Geo   int64          `bson:"geo"`
	}
	spotSpec struct {
		K string `bson:"k"`
		V any    `bson:"v"`
	}
)

var (
	spotted  = model.NewCollection[spot, int]("spots")
	specs    = attributes.New(spotted, "specs", attributes.Spec{})
	spotAt   = geofield.NewField(spotted, "at", "geo", geofield.FieldSpec{})
	southern = geohash.Point{Lat: 40, Lng: -5} // a corner of the land
)

// somewhere returns a place in a square with six or seven spots to a km², without a
// margin.
func (s *site) somewhere(r *rand.Rand, margin float64) geohash.Point {
	side := math.Sqrt(float64(s.n)/6.5) / 111.2 // degrees of latitude
	in := func() float64 { return side * (margin + (1-2*margin)*r.Float64()) }
	return geohash.Point{Lat: southern.Lat + in(), Lng: southern.Lng + in()/math.Cos(southern.Lat*math.Pi/180)}
}

// spots are n.
var spots = stock{
	name:    "attributes and places",
	indexes: []model.Technique{specs, spotAt},
	load: func(ctx context.Context, s *site) error {
		return fill(ctx, s, s.n, spotted.InsertMany, func(i int) spot {
			at := geofield.Point(s.somewhere(s.random, 0))
			out, err := spotAt.Completed(spot{ID: i, At: at, Specs: []spotSpec{{"series", (i - 1) / children}, {"watt", i % 100}}})
			if err != nil {
				panic(err)
			}
			return out
		})
	},
	trials: []trial{
		{"attributes.Attributes", "Equal, 20 documents", "the documents", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Find[spot] { return specs.Equal("series", s.one(s.n/children)-1) })
		}},
		{"attributes.Attributes", "Set", "the attributes", func(ctx context.Context, s *site) step {
			return writing(ctx, s, func() write { return specs.Set(s.one(s.n), bson.D{{Key: "watt", Value: s.fresh()}}) }, nil)
		}},
		{"geofield.Field", "Nearest 20", "what is asked for", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() geofield.Nearest[spot] {
				return spotAt.Nearest(s.somewhere(s.random, 0.3), geofield.NearestSpec{}, geofield.Mark{}, children)
			})
		}},
		{"geofield.Field", "Within 1 km, some 20", "the documents", func(ctx context.Context, s *site) step {
			return reading(ctx, s, some, func() geofield.Within[spot] {
				return spotAt.Within(geohash.Circle{Center: s.somewhere(s.random, 0.3), Meters: 1000})
			})
		}},
		{"geofield.Field", "Set", "nothing", func(ctx context.Context, s *site) step {
			return changing(ctx, s, func() model.ChangeOf[model.Stored[spot]] {
				return storeOf(spotAt, spotted).Set(s.one(s.n), bson.D{{Key: "at", Value: geofield.Point(s.somewhere(s.random, 0))}})
			}, nil)
		}},
	},
}
