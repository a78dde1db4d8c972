package twosided_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A halfLink is the detail of a finding of relations that both sides store.
type halfLink struct {
	List  bool     `bson:"list"`
	A     string   `bson:"a"`
	B     string   `bson:"b"`
	Gone  bool     `bson:"gone"`
	Names []string `bson:"names"`
	Kept  bool     `bson:"kept"`
}

// wantRefusedFindings wants that a check of half-links mends nothing that it didn't find.
func wantRefusedFindings(t *testing.T, check model.Check) {
	t.Helper()
	whole := testkit.FoundAs(t, check, bson.D{{Key: "a", Value: "a"}, {Key: "b", Value: "b"}})
	for reason, found := range map[string][]model.Finding{
		"another check's": {{Check: "another", Detail: whole[0].Detail}}, "without a detail": {{Check: check.Name}},
		"without an id": testkit.FoundAs(t, check, bson.D{{Key: "a", Value: "a"}}),
		"without ids":   testkit.FoundAs(t, check, bson.D{}),
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, check.Mend(found).Err(), testkit.ErrRefused) })
	}
	if err := check.Mend(whole).Err(); err != nil {
		t.Error(err)
	}
}
