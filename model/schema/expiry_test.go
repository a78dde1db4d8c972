package schema_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

type lease struct {
	ID string     `bson:"_id"`
	At *time.Time `bson:"at,omitempty"`
	N  int        `bson:"n"`
	V  int64      `bson:"v"`
}

// A new document gets its time, and each change another version.
func TestExpiryStore(t *testing.T) {
	leases := model.NewCollection[lease, string]("leases")
	store := model.NewStore(model.New("m",
		schema.NewExpiry(leases, "at", schema.ExpirySpec{After: time.Hour, Archive: "old", Version: "v"})), leases)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, given := t.Context(), time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		s, _, err := store.Insert(lease{ID: "a"}).Run(ctx, db)
		if err != nil || s.Doc.At == nil || time.Since(*s.Doc.At).Abs() > time.Minute || s.Doc.V == 0 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		first := s.Doc.V
		for more := range 3 {
			s, _, err = store.Edit("a", func(l *lease) error { l.N++; return nil }).Run(ctx, db)
			if err != nil || s.Doc.V != first+1+int64(more) {
				t.Errorf("%+v, %v, first %d", s.Doc, err, first)
			}
		}
		s, _, err = store.Insert(lease{ID: "b", At: &given, V: 5}).Run(ctx, db)
		if err != nil || !s.Doc.At.Equal(given) || s.Doc.V != 5 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
	})
}
