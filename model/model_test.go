package model_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A model of documents of any form: fields are what the techniques make of them.
var (
	anyShops  = model.NewCollection[bson.D, string]("shops")
	anyWares  = model.NewCollection[bson.D, string]("wares")
	wareInto  = parentref.New(anyWares, "shop", anyShops, parentref.Spec{})
	wareCount = counter.New(anyWares, "shop", anyShops, counter.Spec{Count: "wares"})
	shopGuard = embed.NewVersioned(anyShops, embed.VersionedSpec{})
	wareGuard = embed.NewVersioned(anyWares, embed.VersionedSpec{})
	shopPast  = history.New(anyShops,
		model.NewCollection[history.Revision[bson.D, string], history.RevisionID[string]]("shopsBefore"), history.Spec{})
	shopNames = copyOfName("shop.name", "")
	shopTree  = paths.NewMaterializedPath(anyShops, paths.MaterializedPathSpec{})
	shopTable = indextable.New(anyShops, "name", "byName", indextable.Spec{})
)

type owner struct {
	ID    string `bson:"_id"`
	Items []song `bson:"items,omitempty"`
	More  bool   `bson:"more"`
}

var (
	anyOwners   = model.NewCollection[owner, string]("owners")
	ownersPages = bucket.New(model.NewCollection[bucket.Doc[string, song], string]("pages"),
		bucket.Spec{Max: 9})
)

func copyOfName(to, countUp string) *copies.Copy[bson.D, string, string] {
	return copies.New(anyShops, anyWares, copies.Spec{
		KeyPath: "shop.id", Fields: []copies.Field{{From: "name", To: to}}, CountUp: countUp,
	})
}

func feedOf(name string) *feed.Feed[bson.D, string] {
	sample := bson.D{{Key: "_id", Value: "s"}}
	return feed.New(anyShops, name, sample, func(feed.Change[bson.D, string]) model.Plan {
		return model.NewPlan(anyWares.Update("s", bson.D{{Key: "$set", Value: bson.D{{Key: "seen", Value: true}}}}))
	}, feed.Spec{})
}

// What can't hold together is refused in either order, with the two techniques, the path, and what to do.
func TestNewRefuses(t *testing.T) {
	counters := model.NewCollection[keys.SequenceCounter[string], string]("counters")
	unique := func(on bool) model.Technique {
		return keys.NewShard(anyShops, bson.D{{Key: "name", Value: 1}}, keys.ShardSpec{Unique: on})
	}
	indexed := func(name string, keys ...string) model.Technique {
		x := model.NewIndex("shops", nil)
		for _, k := range keys {
			x.Keys = append(x.Keys, bson.E{Key: k, Value: 1})
		}
		x.Name = name
		return model.Entity(anyShops, x)
	}
	for _, test := range []struct {
		reason, problem, remedy string
		a, b                    model.Technique
	}{
		{"twice", "given twice", "once", wareInto, wareInto},
		{"two counters of one field", "both own shops.wares", "path of its own", wareCount,
			counter.New(anyWares, "seller", anyShops, counter.Spec{Count: "wares"})},
		{
			reason: "a part of what another owns", problem: "both own wares.shop.name.first", remedy: "path of its own",
			a: shopNames, b: copyOfName("shop.name.first", ""),
		},
		{"a list that another derives", "only subset.Subset may write shops.recent", "one technique",
			subset.New(anyWares, "shop", anyShops, "recent", subset.Spec{
				Max: 3, By: bson.D{{Key: "_id", Value: -1}}, Fields: []string{"name"},
			}),
			embed.NewEmbedded[bson.D](anyShops, "recent", embed.EmbeddedSpec{Key: "_id"})},
		{
			reason:  "a link of a tree",
			problem: "parentref.ParentRef writes shops.parent, but only paths.Tree may write shops.parent",
			remedy:  "one technique", a: shopTree,

			b: parentref.New(anyShops, "parent", anyShops, parentref.Spec{}),
		},
		{
			reason: "two trees in the same fields", problem: "both own shops.parent", remedy: "", a: shopTree,
			b: paths.NewParentTree(anyShops, paths.TreeSpec{}),
		},
		{"a number and tokens", "both own shops.ops", "",
			counter.New(anyWares, "shop", anyShops, counter.Spec{Count: "ops"}),
			embed.NewVersioned(anyShops, embed.VersionedSpec{Tokens: "ops"})},
		{"entries of two tables", `both own all documents of collection "byName"`, "a collection of its own", shopTable,
			indextable.New(anyWares, "name", "byName", indextable.Spec{})},
		{
			reason:  "another's entries",
			problem: "writes byName.shop, but all documents of that collection belong to indextable.IndexTable",
			remedy:  "another collection", a: shopTable,

			b: parentref.New(anyWares.Named("byName"), "shop", anyShops, parentref.Spec{}),
		},
		{
			reason: "an outlier and its bucket", problem: "both own pages.", remedy: "leave one of them out", a: ownersPages,
			b: outlier.New(anyOwners, "items", ownersPages, outlier.Spec{Max: 2, Flag: "more"}),
		},
		{"numbers of two sequences", `both own all documents of collection "counters"`, "of its own",
			keys.NewSequence(anyShops, counters, keys.SequenceSpec{}),
			keys.NewSequence(anyWares, counters, keys.SequenceSpec{})},
		{
			reason: "feeds of one name", problem: "both store the document \"f\"", remedy: "another name or another collection",
			a: feedOf("f"), b: feedOf("f"),
		},
		{
			reason:  "a counter past a version",
			problem: "counter.Counter owns shops.wares without increasing version, the version by which embed.Versioned detects",
			remedy:  "Uncounted", a: shopGuard, b: wareCount,
		},
		{"a copy past a version", "copies.Copy", "CountUp", wareGuard, shopNames},
		{"a copy that counts up another field", "copies.Copy", "CountUp", wareGuard, copyOfName("shop.name", "revision")},
		{"a reference past a version", "parentref.ParentRef writes wares.shop", "CountUp", wareGuard, wareInto},
		{
			reason: "elements past a version", problem: "embed.Embedded writes shops.list", remedy: "Uncounted", a: shopGuard,
			b: embed.NewEmbedded[bson.D](anyShops, "list", embed.EmbeddedSpec{Key: "id"}),
		},
		{
			reason:  "a guard by a history's version",
			problem: "embed.Versioned increases shops.version, but only history.History may",
			remedy:  "another version",
			a:       shopPast,
			b:       embed.NewVersioned(anyShops, embed.VersionedSpec{Tokens: "ops", Uncounted: []string{"revised"}}),
		},
		{
			reason:  "a writer that counts a history's version up",
			problem: "parentref.ParentRef increases shops.version, but only history.History may",
			remedy:  "Uncounted", a: shopPast,

			b: parentref.New(anyShops, "mall", anyShops.Named("malls"), parentref.Spec{CountUp: "version"}),
		},
		{
			reason:  "a counter past a history",
			problem: "counter.Counter owns shops.wares without increasing version, the version by which history.History detects",

			remedy: "give the versioned technique Uncounted", a: shopPast, b: wareCount,
		},
		{"two copies of one field", "both own wares.shop.name", "", shopNames, copyOfName("shop.name", "")},
		{"keys that are unique and not", "is unique for only one of", "declare both unique", unique(true), unique(false)},
		{"a unique index across shards", "must begin with its fields", "put city before its keys",
			keys.NewShard(anyShops, bson.D{{Key: "city", Value: 1}}, keys.ShardSpec{}), unique(true)},
		{
			reason:  "a shard key that moves, of a field that is owned",
			problem: "may change wares.shop.name with ChangeKey", remedy: "leave ShardSpec.Moves out",

			a: keys.NewShard(anyWares, bson.D{{Key: "shop.name", Value: 1}}, keys.ShardSpec{Moves: true}),
			b: shopNames,
		},
		{
			reason: "one name for two indexes", problem: "two different indexes have the name x", remedy: "another Name",
			a: indexed("x", "a"), b: indexed("x", "b"),
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			testkit.WantDeclarationErrors(t,
				testkit.Wrong("in order", func() { model.New("m", test.a, test.b) }, test.problem, `New of "m"`, test.remedy),
				testkit.Wrong("the other way", func() { model.New("m", test.b, test.a) }, "", `New of "m"`, test.remedy),
			)
		})
	}
	testkit.WantPanic(t, "no technique", "technique 1 is nil", func() { model.New("m", wareInto, nil) })
}

// What shares a path legally passes, in any order.
func TestNewPasses(t *testing.T) {
	for reason, list := range map[string][]model.Technique{
		"nothing": nil,
		"a reference that is counted, copied beside, and followed by a deletion": {
			wareInto, wareCount, ondelete.New(anyShops, ondelete.Spec{Cascade: []relate.Referrer{wareInto}}),
			dangling.New(anyWares, "shop", anyShops, dangling.Spec{Repair: dangling.DetachIDs}),
		},
		"copies in elements": {
			embed.NewEmbedded[bson.D](anyWares, "lines", embed.EmbeddedSpec{Key: "id"}),
			copies.New(anyShops, anyWares, copies.Spec{
				KeyPath: "lines.shop", Lists: []string{"lines"},
				Fields: []copies.Field{{From: "name", To: "lines.name"}},
			}),
		},
		"writers that count the version up": {
			wareGuard, copyOfName("shop.name", "version"),
			parentref.New(anyWares, "in", anyShops, parentref.Spec{CountUp: "version"}),
		},
		"writers that the guard spares": {
			wareCount, embed.NewVersioned(anyShops, embed.VersionedSpec{Uncounted: []string{"wares", "address"}}),
			embed.NewOne[bson.D](anyShops, "address", embed.OneSpec{}),
		},
		"copies of a version's documents": {
			shopGuard,
			copies.New(anyShops.Named("sources"), anyWares, copies.Spec{
				KeyPath: "from.id",
				Fields:  []copies.Field{{From: "name", To: "from.name"}},
			}),
		},
		"two counters of different fields": {
			wareCount, counter.New(anyWares, "seller", anyShops, counter.Spec{Count: "sold"}),
		},
		"a tree, a place in an area, a table, an expiry": {
			shopTree, geofield.NewField(anyShops, "at", "geo", geofield.FieldSpec{}), shopTable,
			schema.NewExpiry(anyWares, "at", schema.ExpirySpec{After: time.Hour}),
		},
		"a shard key of a field that is owned": {
			keys.NewShard(anyWares, bson.D{{Key: "shop.name", Value: 1}}, keys.ShardSpec{}),
			shopNames,
		},
		"feeds of two names":     {feedOf("one"), feedOf("two")},
		"one collection, twice":  {model.Entity(anyShops), model.Entity(anyShops)},
		"a unique index of ours": {wareInto, model.Entity(anyWares, uniqueOn("shop"))},
	} {
		t.Run(reason, func(t *testing.T) {
			if err := testkit.PanicOf(func() { model.New("m", list...) }); err != nil {
				t.Error(err)
			}
			slices.Reverse(list)
			if err := testkit.PanicOf(func() { model.New("m", list...) }); err != nil {
				t.Error("reversed:", err)
			}
		})
	}
}

func uniqueOn(path string) model.Index {
	x := model.NewIndex("wares", bson.D{{Key: path, Value: 1}, {Key: "_id", Value: -1}})
	x.Unique = true
	return x
}

func TestModelTells(t *testing.T) {
	list := []model.Technique{model.Entity(anyShops), wareCount, shopTable, feedOf("f")}
	m := model.New("shop", list...)
	if got := fmt.Sprint(m.Collections()); m.Name() != "shop" || got != "[shops wares byName docmodel.feeds]" {
		t.Error(got)
	}
	got := m.Techniques()
	if len(got) != 4 || got[1] != model.Technique(wareCount) {
		t.Errorf("techniques %v", got)
	}
	got[1] = nil
	if m.Techniques()[1] == nil {
		t.Error("the techniques can be changed from outside")
	}
	if n := len(wareCount.Checks()) + len(shopTable.Checks()); len(m.Checks()) != n || n == 0 {
		t.Errorf("%d checks, want %d", len(m.Checks()), n)
	}
}

// Writes past the versions of several techniques are named in one error.
func TestNewNamesAllVersions(t *testing.T) {
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("two versioned types", func() { model.New("m", shopGuard, wareCount, wareGuard, shopNames) },
			"copies.Copy writes shops.name without increasing version, the version by which embed.Versioned (techniques[0]) detects stale writes; counter.Counter writes wares.shop,",
			`New of "m"`, `Uncounted: "wares", "name" for shops; "shop", "shop.id", "shop.name" for wares`))
}
