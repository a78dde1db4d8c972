// Places finds airports: within 300 km of one, the five nearest, on both sides of the antimeridian. It says what each search read,
// beside MongoDB's own index on a sphere, and writes what was searched as GeoJSON, to look at on a map (geojson.io shows it). It needs
// no server; with MONGODB_URI it runs on that one, in a database of its own that it drops.
//
//	go run ./examples/places [-geojson cover.geojson]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func main() {
	file := flag.String("geojson", "", "write the cover of the circle to this file")
	flag.Parse()
	if err := open(context.Background(), os.Stdout, os.Getenv("MONGODB_URI"), *file); err != nil {
		log.Fatal(err)
	}
}

// open runs the program on the server that uri names, or on an engine in this process.
func open(ctx context.Context, out io.Writer, uri, file string) error {
	var client *mongo.Client
	if uri == "" {
		engine, stop := modeltest.Start()
		defer stop()
		client = engine
	} else {
		server, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(10 * time.Second))
		if err != nil {
			return err
		}
		defer func() { _ = server.Disconnect(context.WithoutCancel(ctx)) }()
		client = server
	}
	db := client.Database("docmodel_places")
	if err := db.Drop(ctx); err != nil {
		return err
	}
	if err := run(ctx, db, out, file); err != nil {
		return err
	}
	return db.Drop(ctx)
}

func run(ctx context.Context, db *mongo.Database, out io.Writer, file string) error {
	list, err := read(table)
	if err != nil {
		return err
	}
	if err := store(ctx, db, list); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d airports, found by\n%s\n", len(list), model.Indexes(place))
	suva, err := airports.ByID("SUV").One(ctx, db)
	if err != nil {
		return err
	}
	around := geohash.Circle{Center: geohash.Point(suva.At), Meters: 300e3}
	aleutians := geohash.Box{South: 50, West: 170, North: 55, East: -165}
	var searches []search
	for _, ask := range []func() (search, error){
		func() (search, error) { return within(ctx, db, "within 300 km of Suva, Fiji", around) },
		func() (search, error) {
			return within(ctx, db, "within 300 km of Amsterdam", geohash.Circle{Center: geohash.Point{Lat: 52.3086, Lng: 4.7639}, Meters: 300e3})
		},
		func() (search, error) { return within(ctx, db, "in the Aleutians, 170° E to 165° W", aleutians) },
		func() (search, error) { return nearest(ctx, db, "nearest 5 to Longyearbyen", 5, "LYR") },
		func() (search, error) { return nearest(ctx, db, "nearest 5 to the South Pole", 5, "NZSP") },
	} {
		s, err := ask()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s:\n  %s\n", s.name, strings.Join(s.found, ", "))
		searches = append(searches, s)
	}
	if err := report(out, searches); err != nil {
		return err
	}
	return cover(out, around, file)
}

// store stores the airports, and makes the indexes.
func store(ctx context.Context, db *mongo.Database, list []Airport) error {
	if _, err := place.InsertMany(list).Run(ctx, db); err != nil {
		return err
	}
	return model.Indexes(place).Ensure(ctx, db)
}

// A search is what was asked, found and read.
type search struct {
	name     string
	found    []string
	commands int
	read     int // documents
	keys     string
	sphere   string // keys that MongoDB's index on a sphere reads for the same
}

func within(ctx context.Context, db *mongo.Database, name string, area geofield.Area) (search, error) {
	s := search{name: name, commands: 1, sphere: "-"}
	w := place.Within(area)
	found, err := w.All(ctx, db)
	if err != nil {
		return s, err
	}
	slices.SortFunc(found, func(a, b geofield.Place[Airport]) int { return strings.Compare(a.Doc.Code, b.Doc.Code) })
	for _, p := range found {
		s.found = append(s.found, p.Doc.Code+" "+p.Doc.City)
	}
	read, err := w.Find.Count(ctx, db)
	s.read, s.keys = int(read), examined(ctx, db, w.Find.Command())
	if c, ok := area.(geohash.Circle); ok {
		sphere := bson.A{bson.A{c.Center.Lng, c.Center.Lat}, c.Meters / geohash.EarthRadius}
		s.sphere = examined(ctx, db, airports.Find(bson.D{{Key: "at", Value: bson.D{{Key: "$geoWithin", Value: bson.D{{Key: "$centerSphere", Value: sphere}}}}}}).Command())
	}
	return s, err
}

func nearest(ctx context.Context, db *mongo.Database, name string, k int, from string) (search, error) {
	s := search{name: name, keys: "-", sphere: "-"}
	start, err := airports.ByID(from).One(ctx, db)
	if err != nil {
		return s, err
	}
	spec := geofield.NearestSpec{Start: 500e3, Trace: func(r geofield.Ring) { s.commands, s.read = s.commands+1, s.read+r.Read }}
	for p, err := range place.Nearest(k, geohash.Point(start.At), spec).Each(ctx, db) {
		if err != nil {
			return s, err
		}
		s.found = append(s.found, fmt.Sprintf("%s %s %.0f km", p.Doc.Code, p.Doc.City, p.Meters/1000))
	}
	return s, nil
}

// examined is how many keys of indexes a command reads, where the server tells.
func examined(ctx context.Context, db *mongo.Database, command bson.D) string {
	raw, err := db.RunCommand(ctx, bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "executionStats"}}).Raw()
	if err != nil {
		return "not told"
	}
	n, ok := raw.Lookup("executionStats", "totalKeysExamined").AsInt64OK()
	if !ok {
		return "not told"
	}
	if n == 0 {
		return "not used" // every document is read
	}
	return fmt.Sprint(n)
}

func report(out io.Writer, list []search) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\tfound\tcommands\tdocuments\tkeys\tkeys of 2dsphere\t")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t\n", s.name, len(s.found), s.commands, s.read, s.keys, s.sphere)
	}
	return w.Flush()
}

// cover writes what is searched for a circle.
func cover(out io.Writer, c geohash.Circle, file string) error {
	ranges := c.Cover(nil, 8)
	text := geohash.AppendGeoJSON(nil, ranges)
	if file == "" {
		_, err := fmt.Fprintf(out, "\nThe first circle is covered by %d ranges, %d bytes of GeoJSON: -geojson FILE writes them.\n", len(ranges), len(text))
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s has the %d ranges that cover the first circle.\n", file, len(ranges))
	return err
}
