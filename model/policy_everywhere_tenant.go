//go:build docmodel_tenant

package model

import "go.mongodb.org/mongo-driver/v2/bson"

// With this tag, everything is run under the policy of a tenant that marks what it deletes.
var tenantOfTests = func() *Policy {
	p := Policy{
		Filter: bson.D{{Key: "tenantOf", Value: "mine"}, {Key: "goneAt", Value: nil}},
		Insert: bson.D{{Key: "tenantOf", Value: "mine"}},
		Set:    bson.D{{Key: "changedAt", Value: int64(7)}},
		Delete: bson.D{{Key: "goneAt", Value: int64(7)}},
	}.frozen()
	return &p
}()

func everywhere() []*Policy { return []*Policy{tenantOfTests} }
