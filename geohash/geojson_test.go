package geohash_test

import (
	"encoding/json"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

func TestAppendGeoJSON(t *testing.T) {
	got := string(AppendGeoJSON([]byte("x="), []Range{mustParse("ezs42").Range(), {5, 5}, {0, 1 << 58}}))
	want := `x={"type":"FeatureCollection","features":[` +
		`{"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":[[[[-5.625,42.5830078125],[-5.5810546875,42.5830078125],` +
		`[-5.5810546875,42.626953125],[-5.625,42.626953125],[-5.625,42.5830078125]]]]},` +
		`"properties":{"range":0,"first":"ezs420000000","last":"ezs42zzzzzzz","cells":1}},` +
		`{"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":[[[[-180,-90],[0,-90],[0,0],[-180,0],[-180,-90]]]]},` +
		`"properties":{"range":2,"first":"000000000000","last":"7zzzzzzzzzzz","cells":1}}]}` + "\n"
	if got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
	if got := string(AppendGeoJSON(nil, nil)); got != `{"type":"FeatureCollection","features":[]}`+"\n" {
		t.Error(got)
	}
	// A whole cover can be read back.
	cover := Circle{Point{48.8566, 2.3522}, 10_000}.Cover(nil, 8)
	var doc struct {
		Type     string
		Features []struct {
			Type       string
			Geometry   struct{ Coordinates [][][][2]float64 }
			Properties struct {
				Range, Cells int
				First, Last  string
			}
		}
	}
	if err := json.Unmarshal(AppendGeoJSON(nil, cover), &doc); err != nil || len(doc.Features) != len(cover) {
		t.Fatalf("%v, %d features", err, len(doc.Features))
	}
	for i, f := range doc.Features {
		n := 0
		for c := range cover[i].Cells() {
			b := c.Box()
			if ring := f.Geometry.Coordinates[n][0]; ring[0] != [2]float64{b.West, b.South} ||
				ring[2] != [2]float64{b.East, b.North} || ring[4] != ring[0] {
				t.Errorf("%v is drawn as %v", b, ring)
			}
			n++
		}
		p := f.Properties
		if p.Range != i || p.Cells != n || mustParse(p.First).Key != cover[i].Lo || mustParse(p.Last).Key != cover[i].Hi-1 {
			t.Errorf("%v has %+v", cover[i], p)
		}
	}
}
