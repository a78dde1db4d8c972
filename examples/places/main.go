// Places finds airports: within 300 km, in a box, the five nearest, on both sides of the
// antimeridian. It prints what each search reads, beside MongoDB's 2dsphere index, and
// writes the searched area as GeoJSON for a map (such as geojson.io). It runs on an
// embedded engine, or on the server of MONGODB_URI. The results are the same. The number
// of index keys is printed if the server reports it.
//
//	go run ./examples/places [-geojson cover.geojson]
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() {
	file := flag.String("geojson", "", "write the cover of the circle to this file")
	flag.Parse()
	monitor := mongotest.NewMonitor()
	connect.Main("places", tour(monitor, *file), monitor)
}

// tour imports the airports and searches them.
func tour(monitor *mongotest.Monitor, file string) connect.Program {
	return func(ctx context.Context, out io.Writer, db *mongo.Database) error {
		list, err := read(table)
		if err != nil {
			return err
		}
		a := Airports{db}
		if err := a.Import(ctx, list); err != nil {
			return err
		}
		if err := a.Prepare(ctx); err != nil {
			return err
		}
		fmt.Fprintf(out, "%d airports, found by\n%s\n", len(list), everything.Indexes())
		suva, err := a.Get(ctx, "SUV")
		if err != nil {
			return err
		}
		around := geohash.Circle{Center: geohash.Point(suva.At), Meters: 300e3}
		if err := searches(ctx, out, a, monitor, around); err != nil {
			return err
		}
		return cover(out, around, file)
	}
}

// searches prints the results, then what each search read.
func searches(ctx context.Context, out io.Writer, a Airports, monitor *mongotest.Monitor, around geohash.Circle) error {
	costs := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(costs, "\tfound\tcommands\tdocuments\tkeys\tkeys of 2dsphere\t")
	for _, s := range []struct {
		name string
		area geofield.Area // or
		from string        // or the nearest to this
	}{
		{name: "within 300 km of Suva, Fiji", area: around},
		{name: "within 300 km of Amsterdam", area: geohash.Circle{Center: geohash.Point{Lat: 52.3086, Lng: 4.7639}, Meters: 300e3}},
		{name: "in the Aleutians, 170° E to 165° W", area: geohash.Box{South: 50, West: 170, North: 55, East: -165}},
		{name: "nearest 5 to Longyearbyen", from: "LYR"},
		{name: "nearest 5 to the South Pole", from: "NZSP"},
	} {
		var found []string
		keys, sphere := "-", "-"
		cost, err := modeltest.Measure(monitor, func() (err error) {
			if s.area != nil {
				found, err = within(ctx, a, s.area)
			} else {
				found, err = near(ctx, a, s.from)
			}
			return err
		})
		if err != nil {
			return err
		}
		if s.area != nil {
			keys = examined(ctx, a.db, in(s.area).Find.Command())
		}
		if c, ok := s.area.(geohash.Circle); ok {
			disc := bson.A{bson.A{c.Center.Lng, c.Center.Lat}, c.Meters / geohash.EarthRadius}
			sphere = examined(ctx, a.db, airports.Find(bson.D{{Key: "at", Value: bson.D{{Key: "$geoWithin", Value: bson.D{{Key: "$centerSphere", Value: disc}}}}}}).Command())
		}
		fmt.Fprintf(out, "%s:\n  %s\n", s.name, strings.Join(found, ", "))
		fmt.Fprintf(costs, "%s\t%d\t%d\t%d\t%s\t%s\t\n", s.name, len(found), cost.Commands, cost.Returned, keys, sphere)
	}
	fmt.Fprintln(out)
	return costs.Flush()
}

// within returns the codes of the airports in an area.
func within(ctx context.Context, a Airports, area geofield.Area) (out []string, _ error) {
	found, err := a.In(ctx, area)
	slices.SortFunc(found, func(a, b Found) int { return cmp.Compare(a.Doc.Code, b.Doc.Code) })
	for _, p := range found {
		out = append(out, p.Doc.Code+" "+p.Doc.City)
	}
	return out, err
}

// near returns the five nearest airports with distances.
func near(ctx context.Context, a Airports, code string) (out []string, _ error) {
	for p, err := range a.Nearest(ctx, 5, code) {
		if err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("%s %s %.0f km", p.Doc.Code, p.Doc.City, p.Meters/1000))
	}
	return out, nil
}

// examined returns the number of index keys that a command reads, if the server reports
// it.
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

// cover writes the searched area of a circle.
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
