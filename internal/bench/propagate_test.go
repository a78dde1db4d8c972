package main

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Each propagation changes every copy, and leaves the same.
func TestPropagationsAreEqual(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for where, ps := range propagations {
			db, stop, err := b.open(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			if err := storeGoods(t.Context(), db, 100); err != nil {
				t.Fatal(err)
			}
			for i, p := range ps {
				m := maker{ID: one, Name: p.name, V: int64(i + 1)}
				if changed, err := p.run(t.Context(), db, m); changed != 100 || err != nil {
					t.Errorf("%s, %s: %d documents, %v", where, p.name, changed, err)
				}
				n, err := goods.Find(bson.D{{Key: "$or", Value: bson.A{
					bson.D{{Key: "name", Value: p.name}}, bson.D{{Key: "by.1.name", Value: p.name}, {Key: "by.0.name", Value: "another"}},
				}}}).Count(t.Context(), db)
				if n != 100 || err != nil {
					t.Errorf("%s, %s: %d copies, %v", where, p.name, n, err)
				}
			}
		}
	})
}
