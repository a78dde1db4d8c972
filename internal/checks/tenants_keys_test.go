package checks

import (
	"maps"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ownIDs are the types and packages that store documents under _ids without the tenant, with the reason.
var ownIDs = map[string]string{
	"bounded.Bounded":       ownDocument,
	"columns.Columns":       ownDocument,
	"feed.Feed":             ownDocument,
	"history.History":       madeOfIDs,
	"inbox.Inbox":           ownDocument,
	"indextable.IndexTable": madeOfIDs,
	"inverted.Inverted":     madeOfIDs,
	"normalized.Normalized": ownDocument,
	"numbered.Numbered":     ownDocument,
	"outbox.Outbox":         ownDocument,
	"eventlog.Projection":   tenantsName,
	"widerow.WideRow":       madeOfIDs,
	"geofield.Field":        ownDocument,
	"model":                 ownDocument,
	"model.Collection":      ownDocument,
	"model.Store":           ownDocument,
	"model.Stream":          ownDocument,
	"model.Write":           ownDocument,
	"paths.Graph":           ownDocument,
	"paths.Tree":            ownDocument,
	"schema.Expiry":         ownDocument,
}

const (
	ownDocument = "the caller gives the document its _id"
	madeOfIDs   = "the _id is a document's own, or has one, which is unique in its collection. If its collection is keyed, so is this one: KeyedDocs.From"
	tenantsName = "the document is the library's own, under the tenant's name"
)

// Each document that a technique stores under an _id made of keys has the tenant in the _id: two tenants with equal
// keys don't meet.
func TestTenantsKeys(t *testing.T) {
	scope := model.Scope{Tenant: bson.D{{Key: "tenant", Value: "mine"}}}
	seen, keyed := map[string]bool{}, 0
	for _, c := range registered {
		for _, p := range c.plans(c.value(harmless)) {
			under := scope.Plan(p)
			if under.Err() != nil {
				continue
			}
			for _, step := range slices.Concat(under.Steps, under.InTx) {
				id, stores := storedID(step)
				switch {
				case !stores:
				case hasTenant(id):
					keyed++
				case ownIDs[c.group()] == "":
					t.Errorf("%s stores a document under an _id without the tenant: set Write.Keyed, or say in ownIDs why two tenants can't have it: %s", c.name(), step)
				default:
					seen[c.group()] = true
				}
			}
		}
	}
	if keyed < 20 {
		t.Errorf("only %d writes have the tenant in the _id", keyed)
	}
	for group := range maps.Keys(ownIDs) {
		if !seen[group] {
			t.Errorf("ownIDs has %s, which stores no such document: take it out", group)
		}
	}
}

// storedID is the _id of a document that a step may store.
func storedID(step model.Step) (bson.RawValue, bool) {
	switch s := step.(type) {
	case model.MergeInto:
		last := s.Pipeline[len(s.Pipeline)-1][0]
		for _, stage := range slices.Backward(s.Pipeline) {
			if set, ok := stage[0].Value.(bson.D); ok && len(set) == 1 && set[0].Key == "_id" {
				if v, err := core.RawValue(set[0].Value); err == nil {
					return v, true
				}
			}
		}
		args, _ := last.Value.(bson.D)
		for _, e := range args {
			if e.Key == "whenNotMatched" && e.Value == "discard" {
				return bson.RawValue{}, false
			}
		}
		return bson.RawValue{}, true
	case model.Write:
		switch m := s.Model.(type) {
		case *mongo.InsertOneModel:
			raw, err := core.Marshal(m.Document)
			return raw.Lookup("_id"), err == nil && raw.Lookup("_id").Type != 0
		case *mongo.ReplaceOneModel:
			return filteredID(m.Filter, m.Upsert)
		case *mongo.UpdateOneModel:
			return filteredID(m.Filter, m.Upsert)
		case *mongo.UpdateManyModel:
			return filteredID(m.Filter, m.Upsert)
		}
	}
	return bson.RawValue{}, false
}

func filteredID(filter any, upsert *bool) (bson.RawValue, bool) {
	raw, err := core.Marshal(filter)
	if upsert == nil || !*upsert || err != nil {
		return bson.RawValue{}, false
	}
	id := raw.Lookup("_id")
	if doc, ok := id.DocumentOK(); ok && doc.Lookup("$eq").Type != 0 {
		id = doc.Lookup("$eq")
	}
	return id, true
}

func hasTenant(id bson.RawValue) bool {
	doc, ok := id.DocumentOK()
	return ok && doc.Lookup("tenant").Type != 0 && doc.Lookup(core.KeyOf).Type != 0
}
