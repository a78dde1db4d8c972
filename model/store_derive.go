package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Set needs no read if all reactions that it concerns compute fields of the caller's values
// alone: see Reaction.Unread.

// deriveUnread returns the fields of an update with the fields that reactions compute of
// them. ok is false if a reaction must see the stored document.
func (s *store) deriveUnread(set bson.D) (out bson.D, ok bool, err error) {
	if s.docs.VersionField() != nil { // the write upgrades the document
		return nil, false, nil
	}
	empty, err := bson.Marshal(bson.D{})
	if err != nil {
		return nil, false, err
	}
	given, err := withFields(empty, set)
	if err != nil {
		return nil, false, err
	}
	write := s.writeOf(empty, given)
	out = slices.Clip(set)
	for amended := 0; ; { // a computed field may concern other reactions
		concerned := s.concernedBy(out)
		if slices.ContainsFunc(concerned, func(r Reaction) bool { return !r.derivesOf(set) }) {
			return nil, false, nil
		}
		if len(concerned) == amended {
			return out, true, nil
		}
		amended, out = len(concerned), slices.Clip(set)
		for _, r := range concerned {
			fields, err := r.Amend(write)
			if err != nil {
				return nil, true, err
			}
			out = append(out, fields...)
		}
	}
}

// derivesOf reports whether the reaction does nothing but compute fields, of values that
// the update sets.
func (r Reaction) derivesOf(set bson.D) bool {
	if !r.Unread || r.Amend == nil || r.reachesOthers() || r.Applied != nil || r.Correct != nil {
		return false
	}
	return !slices.ContainsFunc(r.Paths, func(path string) bool {
		if slices.Contains(r.Derives, path) { // a caller's value is compared with the stored one
			return slices.ContainsFunc(set, func(e bson.E) bool { return core.Overlap(e.Key, path) })
		}
		return !slices.ContainsFunc(set, func(e bson.E) bool { return e.Key == path || strings.HasPrefix(path, e.Key+".") })
	})
}
