package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// reactingDocs says which writes of a collection's documents concern techniques.
type reactingDocs struct {
	kinds map[Occasion][]string // the techniques that take part in an insert or a deletion
	paths map[string][]string   // the techniques that take part in a change of a path
}

// passing refuses a write of a [Collection] that passes by the model's techniques.
func (s *scope) passing(collection string, model mongo.WriteModel) error {
	docs := s.reacting[collection]
	if docs == nil {
		return nil
	}
	var verb string
	var by []string
	switch m := model.(type) {
	case *mongo.InsertOneModel:
		verb, by = "an insert", docs.kinds[OnInsert]
	case *mongo.ReplaceOneModel:
		verb = "a replacement"
		for _, names := range docs.paths {
			by = slices.Concat(by, names)
		}
		slices.Sort(by)
		by = slices.Compact(by)
	case *mongo.DeleteOneModel:
		verb, by = "a deletion", docs.kinds[OnDelete]
	case *mongo.UpdateOneModel:
		var path string
		if path, by = docs.concernedBy(m.Update); len(by) > 0 {
			verb = "an update of " + path
		}
	}
	if len(by) == 0 {
		return nil
	}
	return &ConflictError{Collection: collection, Reason: fmt.Sprintf("%s passes by %s: write by a store (model.NewStore)",
		verb, strings.Join(by, ", "))}
}

func (s *scope) passingModify(m *FindAndModify) error {
	switch {
	case !m.plain:
		return nil
	case m.Remove:
		return s.passing(m.Collection, &mongo.DeleteOneModel{})
	}
	return s.passing(m.Collection, &mongo.UpdateOneModel{Update: m.Update})
}

// concernedBy returns a path that an update changes, and the techniques that must take part in this.
func (r *reactingDocs) concernedBy(update any) (path string, by []string) {
	raw, err := core.Marshal(update)
	if err != nil {
		return "", nil
	}
	for _, operator := range bsondoc.Elements(raw) {
		fields, _ := operator.Value().DocumentOK()
		for _, e := range bsondoc.Elements(fields) {
			changed := []string{e.Key()}
			if operator.Key() == "$rename" {
				changed = append(changed, e.Value().StringValue())
			}
			for _, p := range changed {
				if names := r.followedBy(p); len(names) > 0 {
					path, by = p, append(by, names...)
				}
			}
		}
	}
	slices.Sort(by)
	return path, slices.Compact(by)
}

// followedBy returns the techniques that must take part in a change of a path. The path can
// name elements of arrays.
func (r *reactingDocs) followedBy(path string) (by []string) {
	path = strings.Join(slices.DeleteFunc(strings.Split(path, "."), isPosition), ".")
	for known, names := range r.paths {
		if known == Whole || core.Overlap(known, path) {
			by = append(by, names...)
		}
	}
	return by
}
