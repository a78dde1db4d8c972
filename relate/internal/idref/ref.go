package idref

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Ref is a path of a collection's documents that stores ids of another collection.
type Ref struct {
	From, Path, To string
	// The path of the array of ids, or of the array of documents with an id each; "" for
	// a single id.
	List string
	// The path of the id in an element; "" if the elements are the ids.
	Key string
	// The Go type doesn't say whether the path is a list.
	MayBeList bool
	// The path crosses more than one array.
	Deep bool
}

// String describes the reference: "books.pub-id → publishers".
func (r Ref) String() string {
	list := ""
	if r.List != "" {
		list = "[]"
	}
	return r.From + "." + r.Path + list + " → " + r.To
}

// NewRef returns the reference of a field.
func NewRef(from string, f core.Field, to string) Ref {
	r := Ref{From: from, Path: f.Path, To: to, List: f.Array, MayBeList: f.Untyped && f.Array == "", Deep: f.Arrays > 1}
	if r.List != "" {
		r.Key = strings.TrimPrefix(strings.TrimPrefix(f.Path, f.Array), ".")
	}
	return r
}

// CheckRef says why documents can't be repaired along the reference, and the remedy; or
// "".
func (r Ref) CheckRef() (problem, remedy string) {
	switch {
	case r.From == "" || r.To == "":
		return "the Reference is empty", "take a Reference from a technique"
	case r.MayBeList:
		return fmt.Sprintf(
			"the type doesn't tell whether %s.%s holds a list", r.From, r.Path,
		), "declare it with parentref.New or childrefs.New"
	case r.Deep:
		return fmt.Sprintf(
			"%s.%s crosses more than one array", r.From, r.Path,
		), "name one array of ids, or one array of documents that each hold an id"
	}
	return "", ""
}

// MakeRelation returns the relation for diagrams.
func (r Ref) MakeRelation(label string) model.Relation {
	to := model.ZeroOrOne
	if r.List != "" {
		to = model.Many
	}
	return model.Relation{
		From: r.From, FromPath: r.Path, To: r.To, ToPath: "_id", FromEnd: model.Many, ToEnd: to, Label: label,
	}
}

// MakeIndex returns the index that finds the documents with an id.
func (r Ref) MakeIndex() model.Index {
	return commands.MakeLookupIndex(r.From,
		"the documents of "+r.From+" that refer to a document of "+r.To, mql.E(r.Path, 1))
}

// MatchReferring is the filter of the documents that store one of some ids. If the type
// doesn't say whether the path is a list, lists are left out: their repair would differ.
func (r Ref) MatchReferring(ids bson.A) bson.D {
	cond := stmt.OneOf(ids)
	if r.MayBeList {
		cond = append(cond, mql.E("$not", mql.Op("$type", "array")))
	}
	return bson.D{{Key: r.Path, Value: cond}}
}

// DetachIDs is the update that removes ids: from a list, or the single one.
func (r Ref) DetachIDs(ids bson.A) bson.D {
	if r.List != "" {
		return stmt.PullIDs(r.List, r.Key, ids)
	}
	return stmt.UnsetFields(r.Path)
}

// ReplaceIDs is the update that replaces some ids by another, with its array filters.
func (r Ref) ReplaceIDs(ids bson.A, by any) (update bson.D, arrayFilters []any) {
	if r.List == "" {
		return stmt.SetField(r.Path, by), nil
	}
	return stmt.SetField(JoinPath(r.List+".$[e]", r.Key), by), []any{
		bson.D{{Key: JoinPath("e", r.Key), Value: stmt.OneOf(ids)}},
	}
}

// UpdateMany is a write of all documents that a filter on the reference matches. After
// it, they don't match the filter any more, so it can run again.
func (r Ref) UpdateMany(filter, update bson.D) model.Write {
	return model.Write{
		Collection: r.From, Index: r.MakeIndex().Name, Idempotent: true,
		Model: &mongo.UpdateManyModel{Filter: filter, Update: update},
	}
}

// JoinPath joins the parts of a path; the last one may be empty.
func JoinPath(parts ...string) string { return strings.TrimSuffix(strings.Join(parts, "."), ".") }

// StoredPath returns the path of the id, or of the list that has it.
func (r Ref) StoredPath() string { return cmp.Or(r.List, r.Path) }
