package model

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// canonicalTenant returns the form in which a tenant's value is stored and named, so that
// one tenant has one text: a string, an ObjectID, an int64 or a UUID. For other values it
// returns the reason why the value can't be a tenant.
func canonicalTenant(v any) (own any, reason string) {
	const want = "can't be a tenant: give a non-empty string, an ObjectID, an integer or a UUID"
	raw, err := bsondoc.Encode(v)
	if err != nil {
		return nil, err.Error()
	}
	switch raw.Type {
	case bson.TypeString:
		text := raw.StringValue()
		switch {
		case text == "":
			return nil, "is empty: " + want
		case !utf8.ValidString(text):
			return nil, "isn't valid UTF-8: " + want
		}
		return text, ""
	case bson.TypeObjectID:
		if id := raw.ObjectID(); !id.IsZero() {
			return id, ""
		}
		return nil, "is the zero ObjectID: " + want
	case bson.TypeInt32:
		return int64(raw.Int32()), ""
	case bson.TypeInt64:
		return raw.Int64(), ""
	case bson.TypeDouble:
		if f := raw.Double(); f == math.Trunc(f) && f >= math.MinInt64 && f < math.MaxInt64 {
			return int64(f), ""
		}
	case bson.TypeBinary:
		subtype, data := raw.Binary()
		if subtype == bson.TypeBinaryUUID && len(data) == 16 &&
			slices.ContainsFunc(data, func(b byte) bool { return b != 0 }) {
			return bson.Binary{Subtype: subtype, Data: slices.Clone(data)}, ""
		}
	}
	return nil, want
}

// isTenant reports whether a value is the value of a scope's tenant. Numbers of different
// types can be equal.
func isTenant(v, tenant any) bool {
	own, reason := canonicalTenant(v)
	return reason == "" && bsondoc.SameValue(own, tenant)
}

// checkTenant checks the tenant, and gives its values their canonical form.
func (s *Scope) checkTenant() error {
	if s.Tenant != nil && len(s.Tenant) == 0 {
		return &ValueError{
			Field: "Scope.Tenant", Value: s.Tenant,
			Reason: "is empty: give the tenant's field and value, or nil for a scope without a tenant",
		}
	}
	for i, e := range s.Tenant {
		own, reason := canonicalTenant(e.Value)
		if reason == "" &&
			(bsondoc.HasKey(s.Insert, e.Key) || bsondoc.HasKey(s.Set, e.Key) || bsondoc.HasKey(s.Delete, e.Key)) {
			reason = "is given in another part of the scope too: name it in Tenant only"
		}
		if reason != "" {
			return &ValueError{Field: "Scope.Tenant." + e.Key, Value: e.Value, Reason: reason}
		}
		s.Tenant[i].Value = own
	}
	return nil
}

// checkCollections refuses a list that names nothing, which isn't the same as nil.
func (s Scope) checkCollections() error {
	if s.Collections != nil && len(s.Collections) == 0 {
		return &ValueError{
			Field: "Scope.Collections", Value: s.Collections,
			Reason: "is empty, so the scope would apply to nothing: give the collections, or nil for all",
		}
	}
	if slices.Contains(s.Collections, "") {
		return &ValueError{
			Field: "Scope.Collections", Value: s.Collections,
			Reason: "contains an empty name: give the names of collections",
		}
	}
	return nil
}

// appliesWithin refuses a scope for a collection that isn't in the model of another scope.
func (s *scope) appliesWithin(of *scope) error {
	for _, name := range s.only {
		if of.model != "" && !of.known[name] {
			return &ValueError{
				Field: "Scope.Collections", Value: name,
				Reason: "isn't a collection of the model " + of.model +
					": correct the name, or give New the technique that uses the collection",
			}
		}
	}
	return nil
}

// inside refuses a scope that contradicts an outer scope.
func (s *scope) inside(outer *scope) error {
	for _, e := range s.tenant {
		if v, ok := bsondoc.Field(outer.tenant, e.Key); ok && !bsondoc.SameValue(v, e.Value) {
			return &ConflictError{
				Paths:  [2]string{"tenant " + shell(outer.tenant), "tenant " + shell(s.tenant)},
				Reason: "the database is already under another tenant's scope",
			}
		}
	}
	return cmp.Or(s.leavesTenant(outer), outer.leavesTenant(s), s.appliesWithin(outer), outer.appliesWithin(s))
}

// leavesTenant refuses a scope that sets a field of the other scope's tenant, because
// this would move documents to another tenant.
func (s *scope) leavesTenant(other *scope) error {
	for _, e := range other.tenant {
		for _, fields := range []bson.D{s.gives, s.set, s.mark} {
			if bsondoc.HasKey(fields, e.Key) {
				return &ConflictError{
					Paths:  [2]string{"scope " + shell(fields), "tenant " + shell(other.tenant)},
					Reason: "the field is the Tenant of another scope: name it in Tenant only",
				}
			}
		}
	}
	return nil
}

// tenantText returns one text for a tenant, independent of the number and order of its
// scopes, and of the types of its numbers.
func tenantText(scopes []*scope) string {
	var fields bson.D
	for _, s := range scopes {
		for _, e := range s.tenant {
			if !bsondoc.HasKey(fields, e.Key) {
				fields = append(fields, e)
			}
		}
	}
	if len(fields) == 0 {
		return ""
	}
	slices.SortFunc(fields, func(a, b bson.E) int { return cmp.Compare(a.Key, b.Key) })
	return shell(fields)
}
