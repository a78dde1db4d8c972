package compose

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type member struct {
	ID     int32  `bson:"_id"`
	Region string `bson:"region"`
	Email  string `bson:"email"`
	Visits int32  `bson:"visits"`
}

// A field is unique across shards by an index table, whose documents are sharded by their _id. A document moves to
// another shard, and a change finds it there.
func TestUniqueAcrossShards(t *testing.T) {
	tenancy.Differs(t, "the cluster is the engine's")
	ctx := t.Context()
	members := model.NewCollection[member, int32]("members")
	emails := indextable.New(members, "email", "members_email", indextable.Spec{Unique: true})
	byRegion := keys.NewShard(members, bson.D{e("region", 1)}, keys.ShardSpec{Moves: true})
	byEmail := keys.NewShard(model.NewCollection[bson.D, any]("members_email"),
		bson.D{e("_id", "hashed")}, keys.ShardSpec{})
	m := model.New("members", emails, byRegion, byEmail)
	store := model.NewStore(m, members)

	for _, version := range []string{"7.0", "8.0"} {
		shards := mongotest.NewShards(3)
		client := mongotest.NewClient(t, shards, mongotest.Settings{Version: version})
		raw, admin := client.Database("app"), client.Database("admin")
		for _, command := range []bson.D{
			byRegion.Command("app"), byEmail.Command("app"),
			{e("split", "app.members"), e("middle", bson.D{e("region", "f")})},
			{e("split", "app.members"), e("middle", bson.D{e("region", "t")})},
			{e("moveChunk", "app.members"), e("find", bson.D{e("region", "g")}), e("to", "shard1")},
			{e("moveChunk", "app.members"), e("find", bson.D{e("region", "u")}), e("to", "shard2")},
		} {
			if err := admin.RunCommand(ctx, command).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Indexes().Ensure(ctx, raw); err != nil {
			t.Fatal(err)
		}
		db := m.On(raw)
		if _, _, err := store.Insert(member{1, "eu", "ada@x", 0}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.Insert(member{2, "us", "ada@x", 0}).Run(ctx, db); !errors.Is(err, model.ErrTaken) {
			t.Errorf("another shard took the email: %v", err)
		}

		visit := model.ChangeOf[member]{
			Read: func(ctx context.Context, db model.DB) (member, error) { return members.ByID(1).One(ctx, db) },
			Decide: func(member) (model.Plan, error) {
				w := members.Update(1, bson.D{e("$inc", bson.D{e("visits", 1)})})
				w.Expect, w.Idempotent = model.One, true
				return model.NewPlan(w), nil
			},
		}
		for _, region := range []string{"us", "apac"} {
			was, err := members.ByID(1).One(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := byRegion.ChangeKey(int32(1), bson.D{e("region", was.Region)}, bson.D{e("region", region)}).
				Run(ctx, db); err != nil {
				t.Fatal(err)
			}
			shards.Touched()
			if _, _, err := visit.Run(ctx, db); err != nil {
				t.Fatal(err)
			}
			var sent [][]string
			for _, touch := range shards.Touched() {
				sent = append(sent, touch.Shards)
			}
			at := map[string]string{"us": "shard2", "apac": "shard0"}[region]
			if len(sent) != 2 || len(sent[0]) != 3 || !slices.Equal(sent[1], []string{at}) {
				t.Errorf("%s: the read and the write in %s are sent to %v", version, region, sent)
			}
		}
		for found, err := range m.Audit().Each(ctx, db) {
			t.Error(found, err)
		}
	}
}
