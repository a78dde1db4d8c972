package model_test

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/dangling"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// One job mends a model whose techniques were given in the wrong order for it: copies and numbers before the references
// that they derive from.
func TestAuditMendsInOrder(t *testing.T) {
	backwards := model.New("backwards", songNames, songCount, unsung, lastTags, sungBy)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 40); err != nil {
			t.Fatal(err)
		}
		if got, err := atOnce(backwards).Job().Run(t.Context(), db, model.JobOptions{}); err != nil || got.Modified != 14 {
			t.Errorf("%+v, %v", got, err)
		}
		if got := foundBy(t, db, atOnce(backwards)); got != "map[]" {
			t.Errorf("found again: %s", got)
		}
	})
}

// A technique that mends what others derive from comes first. Otherwise techniques stay in their order.
func TestAuditOrder(t *testing.T) {
	type band struct {
		ID    string   `bson:"_id"`
		Name  string   `bson:"name"`
		Label string   `bson:"label,omitempty"`
		Hits  []string `bson:"hits,omitempty"`
		N     int64    `bson:"n"`
	}
	type member struct {
		ID   string `bson:"_id"`
		Band string `bson:"band,omitempty"`
		Name string `bson:"bandName,omitempty"`
		Big  int64  `bson:"big,omitempty"`
	}
	bands, members := model.NewCollection[band, string]("bands"), model.NewCollection[member, string]("members")
	labels := model.NewCollection[bson.D, string]("labels")
	count := counter.New(members, "band", bands, counter.Spec{Count: "n"})
	names := copies.New(bands, members, copies.Spec{
		KeyPath: "band",
		Fields:  []copies.Field{{From: "name", To: "bandName"}},
	})
	withDangling := func(spec dangling.Spec) model.Technique {
		return dangling.New(members, "band", bands, spec)
	}
	unlabelled := dangling.New(bands, "label", labels, dangling.Spec{Repair: dangling.DeleteReferrers})
	elsewhere := dangling.New(members, "band", labels, dangling.Spec{Repair: dangling.DetachIDs})
	hits := bounded.New(bands, "hits", bounded.Spec{Max: 3})
	byHit := indextable.New(bands, "hits", "byHit", indextable.Spec{})
	famous := counter.New(members, "band", bands, counter.Spec{
		Count: "n", Where: bson.D{{Key: "bandName", Value: "Famous"}},
	})
	for _, test := range []struct {
		reason     string
		techniques []model.Technique
		want       []int // of techniques
	}{
		{
			reason:     "a mended reference",
			techniques: []model.Technique{count, names, withDangling(dangling.Spec{Repair: dangling.DetachIDs})},
			want:       []int{2, 0, 1},
		},
		{
			reason:     "a replaced reference",
			techniques: []model.Technique{names, withDangling(dangling.Spec{ReplaceBy: "none"}), count},
			want:       []int{1, 0, 2},
		},
		{
			reason:     "deleted documents",
			techniques: []model.Technique{count, withDangling(dangling.Spec{Repair: dangling.DeleteReferrers}), names},
			want:       []int{1, 0, 2},
		},
		{"nothing is mended", []model.Technique{count, withDangling(dangling.Spec{}), names}, []int{0, 1, 2}},
		{
			reason:     "documents that others lead to",
			techniques: []model.Technique{byHit, withDangling(dangling.Spec{Repair: dangling.DetachIDs}), unlabelled},
			want:       []int{2, 0, 1},
		},
		{"an array that is cut", []model.Technique{byHit, names, hits}, []int{1, 2, 0}},
		{"what a condition asks for", []model.Technique{famous, names}, []int{1, 0}},
		{
			reason:     "a circle",
			techniques: []model.Technique{count, elsewhere, withDangling(dangling.Spec{Repair: dangling.DetachIDs})},
			want:       []int{1, 2, 0},
		},
		{"nothing in common", []model.Technique{names, hits}, []int{0, 1}},
		{"nothing in common, the other way", []model.Technique{hits, names}, []int{0, 1}},
	} {
		var got, want []string
		for _, c := range model.New("test", test.techniques...).Audit().Checks {
			got = append(got, c.Name)
		}
		for _, i := range test.want {
			for _, c := range test.techniques[i].Checks() {
				want = append(want, c.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.reason, got, want)
		}
	}
}
