package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	if err := open(context.Background(), os.Stdout, "", ""); err != nil {
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
	//          within 300 km of Suva, Fiji      5         1          5     5          not used
	//           within 300 km of Amsterdam      8         1         12    12          not used
	//   in the Aleutians, 170° E to 165° W      4         1          4     4                 -
	//            nearest 5 to Longyearbyen      5         2         30     -                 -
	//          nearest 5 to the South Pole      5         3          6     -                 -
	//
	// The first circle is covered by 8 ranges, 4095 bytes of GeoJSON: -geojson FILE writes them.
}

// The table is whole: codes stand once, places are places, and those that are known to be near are.
func TestTable(t *testing.T) {
	list, err := read(table)
	if err != nil || len(list) < 500 {
		t.Fatalf("%d airports, %v", len(list), err)
	}
	at := map[string]geohash.Point{}
	for _, a := range list {
		if _, twice := at[a.Code]; twice || len(a.Code) < 3 || len(a.Country) != 2 || a.Name == "" || a.City == "" || a.At.Validate() != nil {
			t.Errorf("%+v", a)
		}
		at[a.Code] = geohash.Point(a.At)
	}
	for _, c := range []struct {
		from, to string
		km       float64 // great circle, as tables of distances have it
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

// Searches find the same on any server, and cost a command each.
func TestAnswers(t *testing.T) {
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		list, err := read(table)
		if err != nil {
			t.Fatal(err)
		}
		if err := store(t.Context(), db, list); err != nil {
			t.Fatal(err)
		}
		wrong, err := place.Check().All(t.Context(), db)
		if err != nil || len(wrong) > 0 {
			t.Errorf("stored are %v, %v", wrong, err)
		}
		taveuni := geohash.Circle{Center: geohash.Point{Lat: -16.69, Lng: -179.88}, Meters: 150e3}
		for _, c := range []struct {
			want string
			area geofield.Area
		}{
			{"LBS Labasa, SVU Savusavu, TVU Taveuni", taveuni},
			{"NZSP South Pole", geohash.Circle{Center: geohash.Point{Lat: -89, Lng: 100}, Meters: 200e3}},
			{"ADK Adak, AKB Atka, MDY Midway, SYA Shemya", geohash.Box{South: 20, West: 170, North: 55, East: -170}},
		} {
			s, err := within(t.Context(), db, "", c.area)
			if got := strings.Join(s.found, ", "); err != nil || got != c.want {
				t.Errorf("within %v are %s, %v; want %s", c.area, got, err, c.want)
			}
		}
		near := place.Within(taveuni)
		read, err := near.Find.Count(t.Context(), db)
		if err != nil {
			t.Error(err)
		}
		modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: int(read)}, func() error {
			_, err := near.All(t.Context(), db)
			return err
		})
	}, modeltest.WithMonitor(monitor))
}

// The cover is GeoJSON.
func TestCover(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cover.geojson")
	var out bytes.Buffer
	if err := open(t.Context(), &out, "", file); err != nil || !strings.Contains(out.String(), file) {
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
