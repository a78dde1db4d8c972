// Facilities composes six techniques over two collections: a tree, a place, embedded
// contacts, a two-way reference, a counter and a copy. A store writes a task with
// everything that they ask for, with one write per document. The program prints the merged
// indexes and a diagram. It runs on an embedded engine, or on the server of MONGODB_URI,
// which must have transactions.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() { connect.Main("facilities", tour) }

// tour runs the actions and prints the commands of two of them.
func tour(ctx context.Context, w io.Writer, db *mongo.Database) error {
	f, err := New(ctx, db)
	if err != nil {
		return err
	}
	if err := fill(ctx, f); err != nil {
		return err
	}
	fmt.Fprintln(w, "The indexes of all techniques:")
	fmt.Fprint(w, everything.Indexes())

	lamp := Task{ID: "lamp", Title: "Change the lamp", Site: SiteRef{ID: "lab"}}
	if err := connect.Show(ctx, w, f.db, "Opening a task", openTask(lamp)); err != nil {
		return err
	}
	if err := connect.Show(ctx, w, f.db, "Moving it", moveTask("lamp", "library")); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nTwo techniques, one write:")
	fmt.Fprintln(w, relocate("library", geohash.Point{Lat: 52.5203, Lng: 13.3903}, "ann@x.org", "Ann"))

	fmt.Fprintln(w, "\nOpen tasks around here:")
	for found, err := range f.Busy(ctx, geohash.Circle{Center: geohash.Point{Lat: 52.52, Lng: 13.39}, Meters: 500}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s, %.0f m: %d\n", found.Doc.Name, found.Meters, found.Doc.Open)
	}
	problems, err := f.Problems(ctx)
	fmt.Fprintln(w, "\nProblems:", problems)
	return err
}

func fill(ctx context.Context, f Facilities) error {
	if err := f.Prepare(ctx); err != nil {
		return err
	}
	for _, s := range []struct {
		site Site
		in   string
	}{
		{Site{ID: "campus", Name: "Campus", At: geofield.Point{Lat: 52.5200, Lng: 13.3900}}, ""},
		{Site{ID: "library", Name: "Library", At: geofield.Point{Lat: 52.5205, Lng: 13.3905}, Contacts: []Contact{{"ann@x.org", "A."}}}, "campus"},
		{Site{ID: "lab", Name: "Laboratory", At: geofield.Point{Lat: 52.5190, Lng: 13.3890}}, "campus"},
	} {
		if err := f.Build(ctx, s.site, s.in); err != nil {
			return err
		}
	}
	return f.OpenTask(ctx, Task{ID: "door", Title: "Oil the door", Site: SiteRef{ID: "library"}})
}
