package embed_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func TestUnionDocuments(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := []uniMedium{
			uniBook{ID: "a", Author: "x"}, uniBook{ID: "b", Author: "y"}, &uniDisc{ID: "c", Tracks: []string{"t"}},
			uniMap{"_id": "d", "n": int32(1)},
		}
		for range 2 { // the second run finds its own documents
			mustRun(t, db, uniMedia.InsertMany(all))
		}
		coll := uniMedia.Of(db)
		if _, err := coll.InsertOne(t.Context(), uniBook{ID: "e"}); err != nil { // plain driver code stores the tag too
			t.Fatal(err)
		}
		if _, err := coll.InsertOne(t.Context(), d("_id", "f", "type", "tape")); err != nil {
			t.Fatal(err)
		}
		for _, doc := range []bson.D{d("_id", "g", "author", "z"), d("type", nil, "_id", "h", "author", "z")} {
			if _, err := coll.InsertOne(t.Context(), doc); err != nil {
				t.Fatal(err)
			}
		}
		kinds := func(list []uniMedium, err error) string {
			if err != nil {
				t.Error(err)
			}
			out := make([]string, len(list))
			for i, v := range list {
				out[i] = strings.TrimPrefix(fmt.Sprintf("%T", v), "embed_test.uni")
			}
			return strings.Join(out, " ")
		}
		byID := d("_id", 1)
		const want = "Book Book *embed_test.uniDisc Map Book Rest Rest Rest"
		if got := kinds(uniMedia.Find(nil).Sorted(byID).All(t.Context(), db)); got != want {
			t.Errorf("All: %s", got)
		}
		cur, err := coll.Find(t.Context(), bson.D{}, options.Find().SetSort(byID))
		if err != nil {
			t.Fatal(err)
		}
		var plain []uniMedium
		err = cur.All(t.Context(), &plain)
		if got := kinds(plain, err); got != want {
			t.Errorf("the driver's cursor: %s", got)
		}
		var one uniMedium
		if err := coll.FindOne(t.Context(), d("_id", "c")).Decode(&one); err != nil || !reflect.DeepEqual(one, all[2]) {
			t.Errorf("%#v, %v", one, err)
		}
		for _, c := range []struct {
			reason    string
			got, want string
		}{
			{"of one type", kinds(uniKinds.Of("disc").All(t.Context(), db)), "*embed_test.uniDisc"},
			{"of two", kinds(uniKinds.Of("disc", "map").Sorted(byID).All(t.Context(), db)), "*embed_test.uniDisc Map"},
			{"of one that fulfils", kinds(uniKinds.Having("book", d("author", "x")).All(t.Context(), db)), "Book"},
			{
				reason: "of one that fulfils either",
				got:    kinds(uniKinds.Having("book", d("$or", bson.A{d("author", "x"), d("_id", "b")})).All(t.Context(), db)),
				want:   "Book Book",
			},
			{
				reason: "of one with any fields",
				got:    kinds(uniKinds.Having("map", d("n", 1, "type", d("$ne", "x"))).All(t.Context(), db)),
				want:   "Map",
			},
			{"of one by a method", kinds(uniKinds.Having("code", d("n", 1)).All(t.Context(), db)), ""},
			{"of one without conditions", kinds(uniKinds.Having("disc", nil).All(t.Context(), db)), "*embed_test.uniDisc"},
		} {
			if c.got != c.want {
				t.Errorf("%s: %s, want %s", c.reason, c.got, c.want)
			}
		}
		books, err := embed.Only[uniBook](uniKinds).Where(d("author", d("$gt", ""))).Sorted(byID).All(t.Context(), db)
		if err != nil || fmt.Sprint(books) != "[{a x } {b y }]" {
			t.Errorf("only books: %v, %v", books, err)
		}
		discs, err := embed.Only[*uniDisc](uniKinds).All(t.Context(), db)
		if err != nil || len(discs) != 1 || !reflect.DeepEqual(discs[0], all[2]) {
			t.Errorf("only discs: %v, %v", discs, err)
		}
		maps, err := embed.Only[uniMap](uniKinds).All(t.Context(), db)
		if err != nil || fmt.Sprint(maps) != "[map[_id:d n:1]]" {
			t.Errorf("only maps: %v, %v", maps, err)
		}
		counts, err := uniKinds.Counts().All(t.Context(), db)
		if got := fmt.Sprint(counts); err != nil || got != `[{null 2} {"book" 3} {"disc" 1} {"map" 1} {"tape" 1}]` {
			t.Errorf("counts %s, %v", got, err)
		}
		mustRun(t, db, model.NewPlan(uniMedia.Replace(uniMap{"_id": "d", "n": int32(2)})),
			model.NewPlan(uniKinds.Retag(d("author", "z"), "book")))
		strangers, err := uniKinds.Checks()[0].All(t.Context(), db)
		if got := fmt.Sprint(strangers); err != nil || got != "[media 'f': type is 'tape']" {
			t.Errorf("strangers %s, %v", got, err)
		}
		if d, err := uniMedia.ByID("d").One(t.Context(), db); err != nil || d.(uniMap)["n"] != int32(2) {
			t.Errorf("replaced %v, %v", d, err)
		}
		if id, err := uniMedia.ID(&all[2]); id != "c" || err != nil {
			t.Errorf("the _id of an interface: %v, %v", id, err)
		}
	})
}

func TestUnionWithin(t *testing.T) {
	listed := embed.NewEmbedded[uniMedium](uniShelves, "media", embed.EmbeddedSpec{Key: "_id", Max: 3})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		shelf := uniShelf{
			ID: "s", Main: uniBook{ID: "m", Author: "x"},
			Media: []uniMedium{uniBook{ID: "a", Author: "y"}, &uniDisc{ID: "d"}},
		}
		mustRun(t, db, uniShelves.InsertMany([]uniShelf{shelf, {ID: "t", Main: &uniDisc{ID: "n"}}, {ID: "u"}}),
			model.NewPlan(listed.Add("u", &uniDisc{ID: "e"}, uniBook{ID: "f"}),
				listed.Update("u", "f", d("$set", d("author", "y")))),
			model.NewPlan(uniShelves.Update("t", d("$set", d("media", bson.A{uniBook{ID: "z"}})))))
		if got, err := uniShelves.ByID("s").One(t.Context(), db); err != nil || !reflect.DeepEqual(got, shelf) {
			t.Errorf("%+v, %v", got, err)
		}
		ids := func(f *model.Find[uniShelf]) string {
			out := ""
			for s, err := range f.Sorted(d("_id", 1)).Each(t.Context(), db) {
				if err != nil {
					t.Error(err)
				}
				out += s.ID
			}
			return out
		}
		for _, c := range []struct{ reason, got, want string }{
			{"a field of one type", ids(uniMain.Of("disc")), "t"},
			{"a field of one type that fulfils", ids(uniMain.Having("book", d("author", "x"))), "s"},
			{"lists with one type", ids(uniListed.Of("disc")), "su"},
			{"lists of which one element fulfils all", ids(uniListed.Having("book", d("author", "y"))), "su"},
			{"not two together", ids(uniListed.Having("disc", d("_id", "a"))), ""},
		} {
			if c.got != c.want {
				t.Errorf("%s: %s, want %s", c.reason, c.got, c.want)
			}
		}
		counts, err := uniListed.Counts().All(t.Context(), db)
		if got := fmt.Sprint(counts); err != nil || got != `[{"book" 3} {"disc" 2}]` {
			t.Errorf("counts %s, %v", got, err)
		}
		coll := uniShelves.Of(db)
		for _, doc := range []bson.D{
			d("_id", "v", "main", d("type", "tape")),
			d("_id", "w", "main", d("_id", "x"), "media", bson.A{d("type", "tape")}),
			d("_id", "x", "main", d("type", nil, "_id", "y")),
		} {
			if _, err := coll.InsertOne(t.Context(), doc); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := uniShelves.ByID("v").One(t.Context(), db); err == nil || !strings.Contains(err.Error(), "tape") {
			t.Errorf("an unknown tag: %v", err)
		}
		mustRun(t, db, model.NewPlan(uniMain.Retag(nil, "disc")))
		if got := ids(uniMain.Of("disc").Where(d("_id", "x"))); got != "x" {
			t.Errorf("assigned in place of null: %s", got)
		}
		if _, err := coll.InsertOne(t.Context(),
			d("_id", "y", "media", bson.A{
				d("n", 1), d("type", "tape"), d("type", "book"), d("type", "tape"), d("type", 5),
			})); err != nil {
			t.Fatal(err)
		}
		for want, k := range map[string]*embed.Kinds[uniShelf, string]{
			"[shelves 'v': main.type is 'tape']":                                             uniMain,
			"[shelves 'w': media.type is 'tape' shelves 'y': media.type is null, 'tape', 5]": uniListed,
		} {
			if found, err := k.Checks()[0].All(t.Context(), db); err != nil || fmt.Sprint(found) != want {
				t.Errorf("strangers %v, %v, want %s", found, err, want)
			}
			if err := k.Checks()[0].Job().Err; err == nil {
				t.Error("a tag is made up")
			}
		}
	})
	for reason, err := range map[string]error{
		"a field of another type":             uniKinds.Having("book", d("tracks", "t")).Err,
		"a misspelt field":                    uniKinds.Having("book", d("athor", "x")).Err,
		"a misspelt field in a list":          uniKinds.Having("book", d("$or", bson.A{d("athor", "x")})).Err,
		"code":                                uniKinds.Having("book", d("$where", "1")).Err,
		"an expression":                       uniKinds.Having("map", d("$expr", true)).Err,
		"a misspelt field of a part":          uniMain.Having("book", d("athor", "x")).Err,
		"a field of another type in an array": uniListed.Having("disc", d("author", "x")).Err,
		"no tag":                              uniKinds.Of().Err, "an unknown tag": uniKinds.Of("book", "tape").Err,
		"an unknown tag that fulfils":  uniKinds.Having("tape", nil).Err,
		"a value that can't be stored": uniKinds.Having("book", d("author", func() {})).Err,
		"assigned an unknown tag":      uniKinds.Retag(nil, "tape").Err,
		"assigned in an array":         uniListed.Retag(nil, "book").Err,
		"only of a foreign type":       embed.Only[uniForeign](uniKinds).Err,
		"only what isn't known":        embed.Only[uniRest](uniKinds).Err,
		"only within documents":        embed.Only[uniBook](uniMain).Err,
	} {
		t.Run(reason, func(t *testing.T) { embErr(t, err, errEmbRefused) })
	}
}

func TestUnionIndexes(t *testing.T) {
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var all, shelves []any
		for i := range 3000 {
			b := uniBook{ID: fmt.Sprint("b", i), Author: fmt.Sprint("a", i), ISBN: fmt.Sprint(i)}
			all = append(all, b, uniMap{"_id": fmt.Sprint("m", i), "author": fmt.Sprint("a", i), "isbn": "0"})
			shelves = append(shelves, uniShelf{ID: b.ID, Main: b, Media: []uniMedium{b}})
		}
		all = append(all, &uniDisc{ID: "d", Tracks: []string{"t"}})
		for coll, docs := range map[*mongo.Collection][]any{
			uniMedia.Of(db): all, uniMedia.Named("typed").Of(db): all, uniShelves.Of(db): shelves,
		} {
			if _, err := coll.InsertMany(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
		}
		if err := model.New("test", uniKinds, uniTyped, uniMain, uniListed).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		books := embed.Only[uniBook](uniKinds).Where(d("author", "a7"))
		for _, c := range []struct {
			reason string
			query  any
			index  string
		}{
			{"only books, by author", books, "author_1_book"},
			{"Having", uniKinds.Having("book", d("author", "a7")), "author_1_book"},
			{"Of a rare type", uniTyped.Of("disc"), "type_1"},
			{"by a field of any type", uniKinds.Having("disc", d("tracks", "t")), "tracks_1"},
			{"Having, a field", uniMain.Having("book", d("author", "a7")), "main.author_1_book"},
			{"Having, a list", uniListed.Having("book", d("author", "a7")), "media.author_1_book"},
		} {
			t.Run(c.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.query, c.index) })
		}
		t.Run("one command", func(t *testing.T) {
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
				_, err := books.All(t.Context(), db)
				return err
			})
		})
		_, err := uniMedia.Insert(uniBook{ID: "n", ISBN: "7"}).Run(t.Context(), db) // maps share their isbn, books don't
		checkErr(t, err, errDuplicate)
	}, m)
}
