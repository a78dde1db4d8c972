package mql_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestEq(t *testing.T) {
	for _, c := range []struct {
		v            any
		want, reason string
	}{
		{"$where", "'$where'", "a string is no operator"},
		{nil, "null", "a null; it matches missing fields too"},
		{testkit.OID(1), "ObjectId('5f0000000000000000000001')", "a scalar"},
		{testkit.D("$gt", 1), "{$eq: {$gt: 1}}", "a document that would be operators"},
		{bson.M{"$gt": 1}, "{$eq: {$gt: 1}}", "a map"},
		{bson.Regex{Pattern: "^.*"}, "{$eq: RegExp('^.*')}", "a pattern would match"},
		{bson.A{1}, "{$eq: [1]}", "an array"},
	} {
		if got := model.Shell(mql.Eq(c.v)); got != c.want {
			t.Errorf("mql.Eq(%s) = %s, want %s: %s", model.Shell(c.v), got, c.want, c.reason)
		}
	}
}
