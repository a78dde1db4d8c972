package model_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type (
	zooAnimal struct {
		ID   string `bson:"_id" json:"id"`
		Name string `bson:"name" json:"title"`
		Cage string `bson:"cage" json:"cage"`
		N    int64  `bson:"n" json:"n"`
	}
	zooTicket struct {
		ID    string `bson:"_id"`
		Price int64  `bson:"price"`
	}
	zooCage struct {
		ID string `bson:"_id"`
	}
	zooEarly struct {
		ID   string `bson:"_id"`
		Cage string `bson:"cage"`
	}
	zooBeast interface{ beast() }
	zooLion  struct {
		ID   string `bson:"_id"`
		Cage string `bson:"cage"`
	}
	zooCarp struct {
		ID string `bson:"_id"`
	}
)

func (zooLion) beast()  {}
func (*zooCarp) beast() {}

func zooOf[D any](name string) *model.Collection[D, string] {
	return model.NewCollection[D, string](name)
}

func zooVersions(c *model.Collection[zooAnimal, string]) *model.Collection[zooAnimal, string] {
	schema.NewVersions(c, schema.VersionsSpec{}, schema.Upcast(func(e zooEarly) (zooAnimal, error) {
		return zooAnimal{ID: e.ID, Cage: e.Cage}, nil
	}))
	return c
}

func zooBucket(c *model.Collection[bucket.Doc[string, song], string]) model.Technique {
	return bucket.New(c, bucket.Spec{Max: 2})
}

// Two declarations of one collection that can't read each other's documents are refused, in
// either order.
func TestNewRefusesDocs(t *testing.T) {
	cages := zooOf[zooCage]("cages")
	animals := zooOf[zooAnimal]("animals")
	byJSON := model.NewCollectionWith[zooAnimal, string]("animals", model.CollectionOptions{
		BSON: &options.BSONOptions{UseJSONStructTags: true},
	})
	pages := zooOf[bucket.Doc[string, song]]("songPages")
	for _, test := range []struct {
		reason, problem, remedy string
		a, b                    model.Technique
	}{
		{
			reason:  "two types",
			problem: "declares animals with documents of type model_test.zooAnimal, but model.Entity with documents of type model_test.zooTicket",
			remedy:  "one type",

			a: parentref.New(animals, "cage", cages, parentref.Spec{}),
			b: model.Entity(zooOf[zooTicket]("animals")),
		},
		{"two types of parents", "declares cages with documents of type model_test.zooCage", "one type",
			parentref.New(animals, "cage", cages, parentref.Spec{}), model.Entity(zooOf[zooTicket]("cages"))},
		{"types of one technique", "documents of type", "one type",
			dangling.New(zooOf[zooAnimal]("animals"), "cage", zooOf[zooEarly]("animals"),
				dangling.Spec{}), model.Entity(animals)},
		{"types of two techniques", "documents of type", "one type",
			parentref.New(animals, "cage", cages, parentref.Spec{}),
			parentref.New(zooOf[zooEarly]("animals"), "cage", cages, parentref.Spec{})},
		{"a type that isn't of the union", "documents of type", "one type",
			model.Entity(zooOf[zooBeast]("beasts")), model.Entity(zooOf[zooTicket]("beasts"))},
		{
			reason: "a pointer", problem: "documents of type", remedy: "one type", a: model.Entity(zooOf[*zooCage]("cages")),
			b: model.Entity(zooOf[*zooTicket]("cages")),
		},
		{
			reason:  "two types of _ids",
			problem: "declares any with _ids of type string, but model.Entity with _ids of type bson.ObjectID",
			remedy:  "one type",

			a: approximate.New(zooOf[bson.D]("any"), "n", 2),
			b: model.Entity(model.NewCollection[bson.D, bson.ObjectID]("any")),
		},
		{"two names of one field", "by bson tags, but model.Entity with fields named by JSON tags", "same CollectionOptions",
			approximate.New(zooOf[zooAnimal]("animals"), "n", 2), model.Entity(byJSON)},
		{"versions of one value", "with versions, but", "one Collection value",
			model.Entity(zooVersions(zooOf[zooAnimal]("animals"))), model.Entity(animals)},
		{"keys of one value", "with _ids made of keys, but", "one Collection value",
			zooBucket(zooOf[bucket.Doc[string, song]]("songPages")), model.Entity(pages)},
	} {
		t.Run(test.reason, func(t *testing.T) {
			testkit.WantDeclarationErrors(t,
				testkit.Wrong("in order", func() { model.New("m", test.a, test.b) }, test.problem, `New of "m"`, test.remedy),
				testkit.Wrong("the other way", func() { model.New("m", test.b, test.a) }, "", `New of "m"`, test.remedy),
			)
		})
	}
}

// Types that are declared to share a collection pass.
func TestNewPassesDocs(t *testing.T) {
	animals, cages := zooOf[zooAnimal]("animals"), zooOf[zooCage]("cages")
	of := embed.NewUnion[zooBeast]("kind", embed.Case[zooLion]("lion"), embed.Case[*zooCarp]("carp"))
	beasts := model.NewCollectionWith[zooBeast, string]("beasts", of.Options())
	pages := zooOf[bucket.Doc[string, song]]("songPages")
	for reason, list := range map[string][]model.Technique{
		"equal declarations": {model.Entity(animals), model.Entity(zooOf[zooAnimal]("animals"))},
		"two names": {
			model.Entity(animals),
			model.Entity(animals.Named("others")),
			model.Entity(zooOf[zooTicket]("tickets")),
		},
		"a type and a pointer to it": {model.Entity(cages), model.Entity(zooOf[*zooCage]("cages"))},
		"documents of any form": {
			model.Entity(animals),
			approximate.New(zooOf[bson.D]("animals"), "n", 2),
			model.Entity(model.NewCollection[bson.Raw, any]("animals")),
		},
		"values of a union": {
			embed.NewKinds(beasts, of, embed.KindsSpec{}),
			parentref.New(zooOf[zooLion]("beasts"), "cage", cages, parentref.Spec{}),
			model.Entity(zooOf[zooCarp]("beasts")),
		},
		"an older version": {
			model.Entity(zooVersions(zooOf[zooAnimal]("animals"))),
			model.Entity(zooOf[zooEarly]("animals")),
		},
		"one value of a bucket": {zooBucket(pages), model.Entity(pages), model.Entity(pages.Unchecked())},
		"two types that share": {
			model.Entity(animals),
			model.Entity(zooOf[zooEarly]("animals")),
			model.NewParts(nil, nil, nil, nil).WithDocs(animals.Docs(), zooOf[zooEarly]("animals").Docs()),
		},
		"_ids of integers": {
			model.Entity(model.NewCollection[bson.D, int64]("any")),
			model.Entity(model.NewCollection[bson.D, int32]("any")),
		},
		"a rule that says no documents": {model.Entity(animals), model.NewParts(nil, nil, nil, nil)},
	} {
		t.Run(reason, func(t *testing.T) {
			if err := testkit.PanicOf(func() { model.New("m", list...) }); err != nil {
				t.Error(err)
			}
		})
	}
	if err := testkit.PanicOf(func() {
		model.New("m", model.Entity(animals), model.Entity(zooOf[zooEarly]("animals")))
	}); err == nil {
		t.Error("the two types pass without the technique that declares both")
	}
}
