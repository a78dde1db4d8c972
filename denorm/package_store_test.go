// These tests are of several packages of denorm: several techniques in the documents of one store.

package denorm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	storeHost struct {
		ID    string      `bson:"_id"`
		Name  string      `bson:"name"`
		Lines []string    `bson:"lines,omitempty"`
		Tail  []storeLine `bson:"tail,omitempty"`
		More  bool        `bson:"more,omitempty"`
		Hits  int64       `bson:"hits,omitempty"`
	}
	storeLine struct {
		Text string `bson:"text"`
	}
)

// Arrays with a bound, and counts that only their technique writes.
func TestStoreOwners(t *testing.T) {
	hosts := model.NewCollection[storeHost, string]("hosts")
	buckets := model.NewCollection[bucket.Doc[string, storeLine], string]("tails")
	pages := bucket.New(buckets, bucket.Spec{Max: 3})
	tails := outlier.New(hosts, "tail", pages, outlier.Spec{Max: 1, Flag: "more"})
	m := model.New("m", bounded.New(hosts, "lines", bounded.Spec{Max: 2}),
		approximate.New(hosts, "hits", 10), tails)
	store := model.NewStore(m, hosts)
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("buckets", func() { model.NewStore(model.New("m", pages), buckets) },
			"Bucket", "NewStore of tails", "Bucket.Append"))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		run := func(c model.ChangeOf[model.Stored[storeHost]], field string) {
			t.Helper()
			_, _, err := c.Run(t.Context(), db)
			var value *model.ValueError
			if errors.As(err, &value) && value.Field != field || value == nil && (err != nil || field != "") {
				t.Errorf("%s: %v, want a refusal of %q", c.Name, err, field)
			}
		}
		run(store.Insert(storeHost{ID: "a", Lines: []string{"1", "2", "3"}}), "lines")
		run(store.Insert(storeHost{ID: "a", Hits: 1}), "hits")
		run(store.Insert(storeHost{ID: "a", Tail: []storeLine{{"1"}}}), "tail")
		run(store.Insert(storeHost{ID: "a", Lines: []string{"1", "2"}}), "")
		run(store.Insert(storeHost{ID: "b"}), "")
		run(store.Edit("a", func(h *storeHost) error { h.Lines = append(h.Lines, "3"); return nil }), "lines")
		run(store.Set("a", bson.D{{Key: "hits", Value: int64(5)}}), "hits")
		run(store.Set("a", bson.D{{Key: "name", Value: "n"}}), "")
		for _, e := range []string{"x", "y"} {
			if _, err := tails.Append("a", storeLine{e}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		run(store.Delete("a"), "more")
		run(store.Delete("b"), "")
		overflow := bucket.Doc[string, storeLine]{ID: "a#0000000009", Items: []storeLine{{"z"}}}
		_, _, err := model.NewStore(m, buckets).Insert(overflow).Run(t.Context(), db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) ||
			!strings.Contains(err.Error(), "Outlier.Append") {
			t.Errorf("an overflow document: %v", err)
		}
	})
}
