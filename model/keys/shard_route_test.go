package keys_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type customer struct {
	ID     int32  `bson:"_id"`
	Region string `bson:"region"`
	Name   string `bson:"name"`
	Count  int32  `bson:"count"`
}

type visitID struct {
	Site string `bson:"site"`
	N    int32  `bson:"n"`
}

type visit struct {
	ID   visitID `bson:"_id"`
	Hits int32   `bson:"hits"`
}

var (
	customers   = model.NewCollection[customer, int32]("customers")
	byRegion    = keys.NewShard(customers, shardD("region", 1), keys.ShardSpec{Moves: true})
	fixedRegion = keys.NewShard(customers, shardD("region", 1), keys.ShardSpec{})
	visits      = model.NewCollection[visit, visitID]("visits")
	bySite      = keys.NewShard(visits, shardD("_id.site", 1), keys.ShardSpec{})
	sharded     = model.New("sharded", model.Entity(customers), byRegion, model.Entity(visits), bySite)
	fixed       = model.New("fixed", model.Entity(customers), fixedRegion)
)

// sentFilters are the filters of the commands that were sent to the collections, in order.
func sentFilters(m *mongotest.Monitor) (out []string) {
	for _, c := range m.Commands() {
		body := c.Body
		for _, list := range []string{"updates", "deletes"} {
			if v, err := c.Body.LookupErr(list); err == nil {
				body = v.Array().Index(0).Document()
			}
		}
		for _, name := range []string{"filter", "query", "q"} {
			if v, err := body.LookupErr(name); err == nil {
				out = append(out, c.Name+" "+model.Shell(v))
			}
		}
	}
	return out
}

// What a change has read says to which shard its writes go. A write that may match nothing is sent by _id, unless keys
// never change.
func TestShardKeyOfWhatWasRead(t *testing.T) {
	tenancy.Differs(t, "the filters have the tenant's fields too")
	rename := func(expect model.Expect, projection bson.D) model.ChangeOf[customer] {
		return model.ChangeOf[customer]{
			Read: func(ctx context.Context, db model.DB) (customer, error) {
				q := customers.ByID(7)
				q.Projection = projection
				docs, err := q.All(ctx, db)
				if err != nil || len(docs) == 0 {
					return customer{}, err
				}
				return docs[0], nil
			},
			Decide: func(c customer) (model.Plan, error) {
				w := customers.Update(c.ID, shardD("$set", shardD("name", c.Name+"!")))
				w.Expect = expect
				return model.NewPlan(w), nil
			},
		}
	}
	for _, test := range []struct {
		name       string
		m          *model.Model
		expect     model.Expect
		projection bson.D
		want       string
	}{
		{"a match", sharded, model.One, nil, "update {_id: 7, region: 'eu'}"},
		{"a match, of a projection", sharded, model.One, shardD("name", 1), "update {_id: 7, region: 'eu'}"},
		{"a match, of a projection without _id", sharded, model.One, shardD("_id", 0, "name", 1), "update {_id: 0}"},
		{"any", sharded, model.Any, nil, "update {_id: 7}"},
		{"any, of fixed keys", fixed, model.Any, nil, "update {_id: 7, region: 'eu'}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			monitor := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if _, err := customers.Insert(customer{7, "eu", "Ada", 0}).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				monitor.Reset()
				_, _, err := rename(test.expect, test.projection).Run(t.Context(), test.m.On(db))
				if err != nil && test.want != "update {_id: 0}" {
					t.Fatal(err)
				}
				if got := sentFilters(monitor); !slices.Contains(got, test.want) {
					t.Errorf("%q, want %s", got, test.want)
				}
			}, monitor)
		})
	}
}

// A document that moves between the read and the write makes the write stale. The change reads its new key.
func TestShardKeyMoves(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := customers.Insert(customer{7, "eu", "Ada", 0}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		moves := []string{"us", "apac", "eu", "us"}
		from := "eu"
		change := model.ChangeOf[int32]{
			Read: func(ctx context.Context, on model.DB) (int32, error) {
				c, err := customers.ByID(7).One(ctx, on)
				if len(moves) > 0 {
					move := byRegion.ChangeKey(int32(7), shardD("region", from), shardD("region", moves[0]))
					if _, err := move.Run(ctx, db); err != nil {
						t.Fatal(err)
					}
					from, moves = moves[0], moves[1:]
				}
				return c.Count, err // equal each time, though the document moves
			},
			Decide: func(int32) (model.Plan, error) {
				w := customers.Update(7, shardD("$inc", shardD("count", 1)))
				w.Expect, w.Idempotent = model.One, true
				return model.NewPlan(w), nil
			},
		}
		if _, _, err := change.Run(t.Context(), sharded.On(db)); err != nil {
			t.Fatal(err)
		}
		c, err := customers.ByID(7).One(t.Context(), db)
		if err != nil || c.Count != 1 || c.Region != "us" {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// A field of the key that lies in the _id is given by every command that asks for an _id.
func TestShardKeyWithinID(t *testing.T) {
	tenancy.Differs(t, "the filters have the tenant's fields too")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		on := sharded.On(db)
		id := visitID{"blog", 3}
		upsert := visits.Update(id, shardD("$inc", shardD("hits", 1)))
		upsert.Model.(*mongo.UpdateOneModel).SetUpsert(true)
		monitor.Reset()
		if _, err := upsert.Run(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		if _, err := visits.ByID(id).One(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		if _, err := visits.Modify(shardD("_id", id), shardD("$inc", shardD("hits", 1))).Run(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		both := visits.Find(shardD("_id", shardD("$in", bson.A{id, visitID{"shop", 1}})))
		if docs, err := both.All(t.Context(), on); err != nil || len(docs) != 1 || docs[0].Hits != 2 {
			t.Fatal(docs, err)
		}
		if _, err := visits.Delete(id).Run(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		const one = "{_id: {site: 'blog', n: 3}, '_id.site': 'blog'}"
		want := []string{"update {_id: {site: 'blog', n: 3}}", "find " + one, "findAndModify " + one,
			"find {_id: {$in: [{site: 'blog', n: 3}, {site: 'shop', n: 1}]}, '_id.site': {$in: ['blog', 'shop']}}",
			"delete " + one}
		got := sentFilters(monitor)
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "{$eq: {site: 'blog', n: 3}}", "{site: 'blog', n: 3}")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	}, monitor)
}

// An upsert that mongos would refuse is refused before it is sent.
func TestShardKeyOfAnUpsert(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		on := sharded.On(db)
		upsert := customers.Update(7, shardD("$set", shardD("name", "Ada")))
		upsert.Model.(*mongo.UpdateOneModel).SetUpsert(true)
		var conflict *model.ConflictError
		if _, err := upsert.Run(t.Context(), on); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "{region}") {
			t.Error(err)
		}
		modify := customers.Modify(shardD("_id", 7), shardD("$set", shardD("name", "Ada")))
		modify.Upsert = true
		if _, err := modify.Run(t.Context(), on); !errors.As(err, &conflict) {
			t.Error(err)
		}
		modify = customers.Modify(shardD("_id", 7, "region", "eu"), shardD("$set", shardD("name", "Ada")))
		modify.Upsert, modify.After = true, true
		if c, err := modify.Run(t.Context(), on); err != nil || c.Region != "eu" {
			t.Error(c, err)
		}
	})
}

func TestChangeKey(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := customers.Insert(customer{7, "eu", "Ada", 0}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		move := byRegion.ChangeKey(int32(7), shardD("region", "eu"), shardD("region", "us"))
		for range 2 { // the second time it was applied before
			if _, err := move.Run(t.Context(), sharded.On(db)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := byRegion.ChangeKey(int32(7), shardD("region", "eu"), shardD("region", "apac")).
			Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
			t.Error(err)
		}
		if _, err := byRegion.ChangeKey(int32(8), shardD("region", "eu"), shardD("region", "apac")).
			Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Error(err)
		}
	})
	for name, w := range map[string]model.Write{
		"a field that is missing": byRegion.ChangeKey(int32(7), nil, shardD("region", "us")),
		"nothing":                 byRegion.ChangeKey(int32(7), shardD("region", "eu"), nil),
		"another field":           byRegion.ChangeKey(int32(7), shardD("region", "eu"), shardD("name", "us")),
		"an array":                byRegion.ChangeKey(int32(7), shardD("region", "eu"), shardD("region", bson.A{"us"})),
		"a wrong type":            byRegion.ChangeKey(int32(7), shardD("region", "eu"), shardD("region", 3)),
		"an id of another type":   byRegion.ChangeKey(bson.A{7}, shardD("region", "eu"), shardD("region", "us")),
		"a fixed key":             fixedRegion.ChangeKey(int32(7), shardD("region", "eu"), shardD("region", "us")),
		"the _id":                 bySite.ChangeKey(visitID{"a", 1}, shardD("_id.site", "a"), shardD("_id.site", "b")),
	} {
		var bad *model.ValueError
		if !errors.As(w.Err, &bad) {
			t.Errorf("%s: %v", name, w)
		}
	}
}

func TestTargets(t *testing.T) {
	plan := model.NewPlan(
		customers.Insert(customer{7, "eu", "Ada", 0}),
		customers.Update(7, shardD("$set", shardD("name", "Ada"))),
		readings2.Delete(3),
	)
	var got []string
	for _, target := range keys.Targets(sharded, plan) {
		got = append(got, string(target.Scope))
	}
	if want := []string{"one shard", "all shards", "one shard"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

var readings2 = model.NewCollection[bson.D, int32]("others")

// A collection has one shard key.
func TestTwoShardKeys(t *testing.T) {
	defer func() {
		if err, ok := recover().(*model.DeclarationError); !ok || !strings.Contains(err.Error(), "two shard keys") {
			t.Error(err)
		}
	}()
	model.New("twice", byRegion, fixedRegion)
}

// Where keys don't change, a write that would change one is refused before it is sent.
func TestShardKeyStays(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		on := fixed.On(db)
		if _, err := customers.Insert(customer{7, "eu", "Ada", 0}).Run(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		same := customers.Update(7, shardD("$set", shardD("region", "eu", "name", "A.")))
		same.Model.(*mongo.UpdateOneModel).SetFilter(shardD("_id", 7, "region", "eu"))
		if _, err := same.Run(t.Context(), on); err != nil {
			t.Error(err)
		}
		other := customers.Update(7, shardD("$set", shardD("region", "us")))
		replaced := model.Write{
			Collection: "customers",
			Model: mongo.NewReplaceOneModel().SetFilter(shardD("_id", 7, "region", "eu")).
				SetReplacement(customer{7, "us", "Ada", 0}),
		}
		var conflict *model.ConflictError
		for _, w := range []model.Write{other, customers.Update(7, shardD("$unset", shardD("region", ""))), replaced} {
			if _, err := w.Run(t.Context(), on); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "ChangeKey") {
				t.Error(w, err)
			}
		}
		if _, err := customers.Modify(shardD("_id", 7), shardD("$set", shardD("region", "us"))).
			Run(t.Context(), on); !errors.As(err, &conflict) {
			t.Error(err)
		}
		if c, err := customers.ByID(7).One(t.Context(), on); err != nil || c.Region != "eu" || c.Name != "A." {
			t.Error(c, err)
		}
	})
}
