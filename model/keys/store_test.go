package keys_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type parcel struct {
	ID   string `bson:"_id"`
	Zone int64  `bson:"zone"`
	Text string `bson:"text"`
}

// A new document of a sequence needs a key. The shard key of a stored one can't change.
func TestStoreKeys(t *testing.T) {
	parcels := model.NewCollection[parcel, string]("parcels")
	sequence := keys.NewSequence(parcels,
		model.NewCollection[keys.SequenceCounter[string], string]("counters"), keys.SequenceSpec{})
	shard := keys.NewShard(parcels, bson.D{{Key: "zone", Value: 1}, {Key: "_id", Value: 1}}, keys.ShardSpec{Moves: true})
	store := model.NewStore(model.New("m", sequence, shard), parcels)
	id, _ := sequence.Key("ann", 1)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			change model.ChangeOf[model.Stored[parcel]]
			field  string
		}{
			{store.Insert(parcel{ID: "ann"}), "key"},
			{store.Insert(parcel{ID: id, Zone: 3}), ""},
			{store.Set(id, bson.D{{Key: "zone", Value: int64(4)}}), "zone"},
			{store.Edit(id, func(p *parcel) error { p.Text = "x"; return nil }), ""},
			{store.Delete(id), ""},
		} {
			_, _, err := c.change.Run(t.Context(), db)
			var value *model.ValueError
			if errors.As(err, &value) && value.Field != c.field || value == nil && (err != nil || c.field != "") {
				t.Errorf("%s: %v, want a refusal of %q", c.change.Name, err, c.field)
			}
		}
	})
}
