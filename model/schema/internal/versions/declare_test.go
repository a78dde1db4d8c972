package versions_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
)

func TestVersionsPanics(t *testing.T) {
	type odd struct {
		ID string `bson:"_id"`
		V  string `bson:"v"`
	}
	one, two := schema.Upcast(namesOf), schema.Upcast(phonesOf)
	spec := schema.VersionsSpec{}
	for _, c := range []struct {
		reason string
		f      func()
	}{
		{"steps out of order", func() { schema.NewVersions(newPeople(), spec, two, one) }},
		{"a step too few", func() { schema.NewVersions(newPeople(), spec, one) }},
		{"no function", func() { schema.NewVersions(newPeople(), spec, one, schema.Upcast[personV2, personV3](nil)) }},
		{"the zero step", func() { schema.NewVersions(newPeople(), spec, schema.Step{}) }},
		{"the _id", func() { schema.NewVersions(newPeople(), schema.VersionsSpec{Field: "_id"}) }},
		{"a path", func() { schema.NewVersions(newPeople(), schema.VersionsSpec{Field: "a.b"}) }},
		{"before zero", func() { schema.NewVersions(newPeople(), schema.VersionsSpec{First: -1}) }},
		{"missing is no version", func() {
			schema.NewVersions(newPeople(), schema.VersionsSpec{Missing: 4}, one, two)
		}},
		{"declared before", func() { schema.NewVersions(people, spec, one, two) }},
		{"documents as they are stored", func() {
			schema.NewVersions(model.NewCollection[bson.Raw, string]("raws"), spec)
		}},
		{
			reason: "the field is a text",
			f: func() {
				schema.NewVersions(model.NewCollection[odd, string]("odd"), schema.VersionsSpec{Field: "v"})
			},
		},
		{"a text is no document", func() {
			schema.NewVersions(newPeople(), spec,
				schema.Upcast(func(string) (personV3, error) { return personV3{}, nil }))
		}},
	} {
		testkit.WantDeclarationError(t, c.reason, c.f)
	}
}
