package model

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
)

// A toldDocs is a collection that a technique declares.
type toldDocs struct {
	*core.Docs
	technique int  // the index in Model.techniques
	shares    bool // the technique only says which types share a collection
}

// compareDocs panics if one collection is declared differently.
func (m *Model) compareDocs() {
	told := map[string][]toldDocs{}
	var names []string
	for i, t := range m.techniques {
		own, ok := t.(interface {
			documents() (docs []*core.Docs, only bool)
		})
		if !ok {
			continue
		}
		docs, only := own.documents()
		for _, d := range docs {
			if told[d.Name()] == nil {
				names = append(names, d.Name())
			}
			told[d.Name()] = append(told[d.Name()], toldDocs{d, i, only})
		}
	}
	for _, name := range names {
		for i, a := range told[name] {
			for _, b := range told[name][:i] {
				m.compareDeclared(b, a, told[name])
			}
		}
	}
}

// compareDeclared panics if a and b differ. all are the declarations of the collection.
func (m *Model) compareDeclared(a, b toldDocs, all []toldDocs) {
	difference := a.Compare(b.Docs)
	if !a.IsUntyped() && !b.IsUntyped() && !shareCollection(a, b, all) {
		difference = &core.Difference{
			Own:   "with documents of type " + typeBeside(a.Type(), b.Type()),
			Other: "with documents of type " + typeBeside(b.Type(), a.Type()),
			Remedy: "declare the collection once, with one type. If it stores documents of both types, give New Parts that only have both (Parts.WithDocs). " +
				"Make one model for each database",
		}
	}
	if difference != nil {
		first, second := m.called(a.technique), m.called(b.technique)
		m.fail(fmt.Sprintf("%s declares %s %s, but %s %s", first, a.Name(), difference.Own, second,
			difference.Other), difference.Remedy)
	}
}

// shareCollection reports whether a declaration says that documents of both types are in
// the collection.
func shareCollection(a, b toldDocs, all []toldDocs) bool {
	in := func(part []toldDocs, d toldDocs) bool {
		return slices.ContainsFunc(part, func(e toldDocs) bool { return !e.IsUntyped() && e.Includes(d.Docs) })
	}
	for i, d := range all {
		part := all[i : i+1]
		for d.shares && i+len(part) < len(all) && all[i+len(part)].technique == d.technique {
			part = all[i : i+len(part)+1]
		}
		if in(part, a) && in(part, b) {
			return true
		}
	}
	return false
}

// typeBeside returns a type's name, with the path of its package if another type has the
// same name.
func typeBeside(t, other reflect.Type) string {
	if t.String() == other.String() && t.PkgPath() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}

// documentsOf returns the collections that a technique tells by WithDocs, or an entity's.
func documentsOf(t Technique) []*core.Docs {
	if e, ok := t.(entity); ok {
		return []*core.Docs{e.c.Docs}
	}
	own, ok := t.(interface {
		documents() (docs []*core.Docs, only bool)
	})
	if !ok {
		return nil
	}
	docs, _ := own.documents()
	return docs
}
