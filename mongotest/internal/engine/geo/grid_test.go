package geo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

// TestGrid holds that the cells of an area have every point in it.
func TestGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() Point { return Point{r.Float64()*360 - 180, math.Asin(r.Float64()*2-1) * 180 / math.Pi} }
	areas := []string{
		"{$centerSphere: [[10, 50], 0.3]}", "{$centerSphere: [[179, -80], 0.3]}", "{$centerSphere: [[0, 0], 2]}",
		"{$centerSphere: [[-178, 3], 0.2]}", "{$geometry: " + square + "}", "{$geometry: " + dateline + "}",
		"{$geometry: " + pole + "}", "{$geometry: " + several + "}",
	}
	for _, s := range areas {
		spec := valuetest.Doc(s)
		area, err := Areas[spec[0].Key](spec[0].Value)
		if err != nil {
			t.Fatal(err)
		}
		var cells []Cells
		for _, rect := range area.(Region).Rects() {
			cells = append(cells, SphereGrid.CellsIn(rect)...)
		}
		for range 20000 {
			p := random()
			g, err := Parse(bson.A{p.X, p.Y})
			if err != nil {
				t.Fatal(err)
			}
			at := SphereGrid.CellsOf([]*Geometry{g})
			covered := false
			for _, c := range cells {
				covered = covered || c.First <= at[0] && at[0] <= c.Last
			}
			if area.Contains(g) && !covered {
				t.Fatalf("%v is in %s, and in none of its cells", p, s)
			}
		}
	}
}
