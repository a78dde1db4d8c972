package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	monitor := mongotest.NewMonitor()
	if err := connect.Run(context.Background(), "", "places", os.Stdout, tour(monitor, ""), monitor); err != nil { // other servers don't report keys
		fmt.Println(err)
	}
	// Output:
	// 581 airports, found by
	// db.airports.createIndex({geo: 1})
	// db.airports.createIndex({at: '2dsphere'})
	//
	// within 300 km of Suva, Fiji:
	//   LBS Labasa, NAN Nadi, SUV Suva, SVU Savusavu, TVU Taveuni
	// within 300 km of Amsterdam:
	//   AMS Amsterdam, BRE Bremen, BRU Brussels, CGN Cologne, CRL Charleroi, DUS Duesseldorf, EIN Eindhoven, RTM Rotterdam
	// in the Aleutians, 170° E to 165° W:
	//   ADK Adak, AKB Atka, DUT Unalaska, SYA Shemya
	// nearest 5 to Longyearbyen:
	//   LYR Longyearbyen 0 km, TOS Tromso 958 km, KKN Kirkenes 1039 km, IVL Ivalo 1131 km, KRN Kiruna 1169 km
	// nearest 5 to the South Pole:
	//   NZSP South Pole 0 km, UGL Ellsworth Mountains 1137 km, NZFX McMurdo 1339 km, NZWD McMurdo 1349 km, QAT Queen Maud Land 2006 km
	//
	//                                       found  commands  documents  keys  keys of 2dsphere
	//          within 300 km of Suva, Fiji      5         1          5     5                26
	//           within 300 km of Amsterdam      8         1         12    12                36
	//   in the Aleutians, 170° E to 165° W      4         1          4     4                 -
	//            nearest 5 to Longyearbyen      5         3         31     -                 -
	//          nearest 5 to the South Pole      5         4          7     -                 -
	//
	// The first circle is covered by 8 ranges, 4095 bytes of GeoJSON: -geojson FILE writes them.
}

// Codes in the table are unique, places are valid, and known distances are right.
func TestTable(t *testing.T) {
	list, err := read(table)
	if err != nil || len(list) < 500 {
		t.Fatalf("%d airports, %v", len(list), err)
	}
	at := map[string]geohash.Point{}
	for _, a := range list {
		if _, twice := at[a.Code]; twice || len(a.Code) < 3 || len(a.Country) != 2 || a.Name == "" || a.City == "" || geohash.Point(a.At).Validate() != nil {
			t.Errorf("%+v", a)
		}
		at[a.Code] = geohash.Point(a.At)
	}
	for _, c := range []struct {
		from, to string
		km       float64 // great circle, as in tables of distances
	}{
		{"LHR", "JFK", 5540}, {"SYD", "AKL", 2157}, {"SIN", "LHR", 10885}, {"GRU", "JNB", 7434}, {"LAX", "HND", 8815}, {"DXB", "DEL", 2190}, {"NAN", "APW", 1200},
	} {
		if d := geohash.Distance(at[c.from], at[c.to]) / 1000; d < c.km*0.99 || d > c.km*1.01 {
			t.Errorf("%s to %s is %.0f km, not about %.0f", c.from, c.to, d, c.km)
		}
	}
	for reason, bad := range map[string]string{
		"a latitude": "a,b,c,d,e,f\nX,x,x,XX,north,2\n", "a longitude": "a,b,c,d,e,f\nX,x,x,XX,1,east\n", "columns": "a,b\nX,x,x,XX,1,2\n",
	} {
		if _, err := read(bad); err == nil {
			t.Errorf("%s that is none is read", reason)
		}
	}
}

// Searches find the same on any server. The cost of each action and its index.
func TestActions(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		a, ctx := seed(t, db), t.Context()
		taveuni := geohash.Circle{Center: geohash.Point{Lat: -16.69, Lng: -179.88}, Meters: 150e3}
		bering := geohash.Box{South: 20, West: 170, North: 55, East: -170}
		for _, action := range []struct {
			name  string
			want  model.Cost
			found string
			run   func() ([]string, error)
		}{
			{"a circle", model.Cost{Commands: 1, Returned: 3}, "LBS Labasa, SVU Savusavu, TVU Taveuni", func() ([]string, error) { return within(ctx, a, taveuni) }},
			{"at the pole", model.Cost{Commands: 1, Returned: 4}, "NZSP South Pole", func() ([]string, error) {
				return within(ctx, a, geohash.Circle{Center: geohash.Point{Lat: -89, Lng: 100}, Meters: 200e3})
			}},
			{"a box", model.Cost{Commands: 1, Returned: 4}, "ADK Adak, AKB Atka, MDY Midway, SYA Shemya", func() ([]string, error) { return within(ctx, a, bering) }},
			{"of a country", model.Cost{Commands: 1, Returned: 1}, "1", func() ([]string, error) {
				found, err := a.InCountry(ctx, "NL", geohash.Circle{Center: geohash.Point{Lat: 52.3, Lng: 4.8}, Meters: 40e3})
				return []string{fmt.Sprint(len(found))}, err
			}},
			{"nearest", model.Cost{Commands: 1 + 2, Returned: 31}, "LYR Longyearbyen 0 km, TOS Tromso 958 km, KKN Kirkenes 1039 km, IVL Ivalo 1131 km, KRN Kiruna 1169 km",
				func() ([]string, error) { return near(ctx, a, "LYR") }},
			{"correct", model.Cost{Commands: 1, Written: 1, Returned: 1}, "", func() ([]string, error) {
				return nil, a.Correct(ctx, "TVU", geohash.Point{Lat: -16.6906, Lng: -179.8768})
			}},
		} {
			t.Run(action.name, func(t *testing.T) {
				modeltest.WantCost(t, monitor, action.want, func() error {
					found, err := action.run()
					if got := strings.Join(found, ", "); got != action.found {
						t.Errorf("found are %s, %v; want %s", got, err, action.found)
					}
					return err
				})
			})
		}
		if n, err := a.Mend(ctx); n != 0 || err != nil {
			t.Errorf("%d to mend, %v", n, err)
		}
		modeltest.WantIndexed(t, db, in(taveuni).Find, "geo_1")
		modeltest.WantIndexed(t, db, in(bering).Find, "geo_1")
		modeltest.WantIndexed(t, db, nearest(5, taveuni.Center).First, "geo_1")
	}, monitor)
}

// seed imports the airports.
func seed(t *testing.T, db *mongo.Database) Airports {
	list, err := read(table)
	a := Airports{db}
	if err := errors.Join(err, a.Prepare(t.Context()), a.Import(t.Context(), list)); err != nil {
		t.Fatal(err)
	}
	return a
}

// Errors are the airports'. Mend repairs documents stored by other programs.
func TestErrors(t *testing.T) {
	db := mongotest.NewClient(t).Database("places")
	a, ctx := seed(t, db), t.Context()
	_, errGet := a.Get(ctx, "XXX")
	_, errNear := near(ctx, a, "XXX")
	for name, err := range map[string]error{"no airport": errGet, "none to correct": a.Correct(ctx, "XXX", geohash.Point{Lat: 1}), "nearest to none": errNear} {
		if !errors.Is(err, ErrNoAirport) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if value := (*model.ValueError)(nil); !errors.As(a.Correct(ctx, "SUV", geohash.Point{Lat: 91}), &value) {
		t.Error("a latitude of 91° is stored")
	}
	if _, err := airports.Insert(Airport{Code: "NEW", At: geofield.Point{Lat: 1, Lng: 1}}).Run(ctx, db); err != nil {
		t.Fatal(err)
	}
	n, err := a.Mend(ctx)
	found, errIn := within(ctx, a, geohash.Circle{Center: geohash.Point{Lat: 1, Lng: 1}, Meters: 10})
	if n != 1 || errors.Join(err, errIn) != nil || len(found) != 1 {
		t.Errorf("%d mended, %q, %v, %v", n, found, err, errIn)
	}
}

// A second import completes an interrupted import.
func TestImportCut(t *testing.T) {
	list, err := read(table)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Run: func(ctx context.Context, db *mongo.Database) error { return Airports{db}.Import(ctx, list[:20]) },
		Check: func(t testing.TB, db *mongo.Database) {
			if n, err := airports.Find(nil).Count(t.Context(), db); n != 20 || err != nil {
				t.Errorf("%d airports, %v", n, err)
			}
		},
	})
}

// The cover is GeoJSON.
func TestCover(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cover.geojson")
	var out bytes.Buffer
	if err := cover(&out, geohash.Circle{Center: geohash.Point{Lat: -18, Lng: 178}, Meters: 300e3}, file); err != nil || !strings.Contains(out.String(), file) {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(file)
	var collection struct {
		Type     string
		Features []any
	}
	if err != nil || json.Unmarshal(text, &collection) != nil || collection.Type != "FeatureCollection" || len(collection.Features) != 8 {
		t.Errorf("written is %.80s, %v", text, err)
	}
}
