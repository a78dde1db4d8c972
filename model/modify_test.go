package model_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// A findAndModify without an update is made to remove; one that isn't is refused before anything is sent.
func TestModifyWithoutUpdate(t *testing.T) {
	tenancy.Differs(t, "a findAndModify that removes is refused under a scope that marks")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
		remove := parts.Modify(d("_id", 1), nil)
		remove.Remove = true
		if got, err := remove.Run(t.Context(), db); err != nil || got.Name != "a" {
			t.Errorf("removed %+v, %v", got, err)
		}
		var bad *model.ValueError
		if _, err := parts.Modify(d("_id", 2), nil).Run(t.Context(), db); !errors.As(err, &bad) || bad.Field != "Update" {
			t.Errorf("no update: %v", err)
		}
		if left, err := parts.Find(bson.D{}).Count(t.Context(), db); err != nil || left != 1 {
			t.Errorf("%d are left, %v", left, err)
		}
	})
}
