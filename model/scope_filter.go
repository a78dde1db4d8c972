package model

import (
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// allows refuses a filter with another value for a field of the tenant, and operators
// that could bypass the scope.
func (s *scope) allows(collection string, filter bson.D) error {
	if len(s.tenant) > 0 && s.holds(collection) {
		if err := s.asksOther(collection, filter, bsonval.MaxLevels); err != nil {
			return err
		}
	}
	return nothingHidden(collection, filter)
}

// asksOther looks for the tenant's fields in a filter, also within $and, $or and $nor,
// down to the nesting limit.
func (s *scope) asksOther(collection string, filter bson.D, levels int) error {
	for _, e := range filter {
		if e.Key == "$and" || e.Key == "$or" || e.Key == "$nor" {
			list, _ := bsondoc.Pipeline(e.Value)
			for _, part := range list {
				if levels == 0 {
					return core.CheckDepth(filter)
				}
				if err := s.asksOther(collection, part, levels-1); err != nil {
					return err
				}
			}
			continue
		}
		for _, t := range s.tenant {
			if core.Overlap(e.Key, t.Key) && !(e.Key == t.Key && asksTenant(e.Value, t.Value)) {
				return &ConflictError{Collection: collection, Paths: [2]string{"filter " + e.Key, "scope " + t.Key},
					Reason: "the filter gives the tenant's field another value: leave the field out, the scope adds it"}
			}
		}
	}
	return nil
}

// asksTenant reports whether a filter's condition selects the tenant, as an equality or as
// the pattern of [exactTenant].
func asksTenant(condition, tenant any) bool {
	if text, ok := tenant.(string); ok && bsondoc.SameValue(condition, patternOf(text)) {
		return true
	}
	return bsondoc.IsEquality(condition) && isTenant(bsondoc.EqualTo(condition), tenant)
}

// nothingHidden refuses code that the server runs, because a scope can't know what the
// code reads.
func nothingHidden(collection string, doc bson.D) error {
	if len(doc) == 0 {
		return nil
	}
	raw, err := (*core.Codec)(nil).Document(doc)
	if err != nil {
		return err
	}
	if op := codeWithin(raw); op != "" {
		return &ConflictError{
			Collection: collection,
			Reason:     op + " can't run under a scope: the documents that its code reads aren't known",
		}
	}
	return nil
}

// codeWithin returns the first operator in a document that runs code, or "". It skips
// $literal.
func codeWithin(doc bson.Raw) string {
	elems, _ := doc.Elements()
	for _, e := range elems {
		switch key := e.Key(); key {
		case "$where", "$function", "$accumulator":
			return key
		case "$literal":
			continue
		}
		switch v := e.Value(); v.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
			if op := codeWithin(bson.Raw(v.Value)); op != "" {
				return op
			}
		}
	}
	return ""
}
