package model_test

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
)

// A model has one validation of each collection of which a technique knows what its documents must look like.
func TestModelValidations(t *testing.T) {
	type page struct {
		ID   string   `bson:"_id"`
		Last []string `bson:"last,omitempty"`
	}
	pages := model.NewCollection[page, string]("pages")
	last := bounded.New(pages, "last", bounded.Spec{Max: 3})
	of := schema.Of(pages, schema.Spec{})
	mails := bucket.New(model.NewCollection[bucket.Doc[string, page], string]("mails"),
		bucket.Spec{Max: 9})
	const levels = ", validationLevel: 'strict', validationAction: 'error'})"
	for _, test := range []struct {
		reason string
		m      *model.Model
		want   []string
	}{
		{"none", model.New("m", wareCount), nil},
		{"one", model.New("m", last), []string{
			"db.runCommand({collMod: 'pages', validator: {$jsonSchema: {properties: {last: {bsonType: 'array', maxItems: 3}}}}" +
				levels,
		}},
		{"two of a collection, and another's", model.New("m", of, mails, last), []string{
			"db.runCommand({collMod: 'pages', validator: {$and: [{$jsonSchema: {bsonType: 'object', required: ['_id'], properties: " +
				"{_id: {bsonType: 'string'}, last: {bsonType: 'array', items: {bsonType: 'string'}}}}}, " +
				"{$jsonSchema: {properties: {last: {bsonType: 'array', maxItems: 3}}}}]}" + levels,
			"db.runCommand({collMod: 'mails', validator: {$jsonSchema: {required: ['key', 'seq', 'n', 'bytes', 'items'], " +
				"properties: {items: {bsonType: 'array', maxItems: 9}}}}" + levels,
		}},
	} {
		var got []string
		for _, v := range test.m.Validations() {
			got = append(got, v.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q\nwant %q", test.reason, got, test.want)
		}
	}
}
