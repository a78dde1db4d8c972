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

// Ref is a path of a collection's documents that holds ids of documents of another collection.
type Ref struct {
	From, Path, To string
	List           string // the path of the array of ids, or of elements that hold one each; "" when the id is single
	Key            string // of the id within an element; "" when the elements are the ids
	Open           bool   // whether the path holds a list can't be told from the type
	Deep           bool   // the path crosses more than one array
}

// String is the reference in words: "books.pub-id → publishers".
func (r Ref) String() string {
	list := ""
	if r.List != "" {
		list = "[]"
	}
	return r.From + "." + r.Path + list + " → " + r.To
}

// NewRef returns the reference that a field holds.
func NewRef(from string, f core.Field, to string) Ref {
	r := Ref{From: from, Path: f.Path, To: to, List: f.Array, Open: f.Open && f.Array == "", Deep: f.Arrays > 1}
	if r.List != "" {
		r.Key = strings.TrimPrefix(strings.TrimPrefix(f.Path, f.Array), ".")
	}
	return r
}

// Check says why documents can't be mended along the reference, and what to do, or returns "".
func (r Ref) Check() (problem, remedy string) {
	switch {
	case r.From == "" || r.To == "":
		return "the Reference is empty", "take a Reference from a technique"
	case r.Open:
		return fmt.Sprintf("the type doesn't tell whether %s.%s holds a list", r.From, r.Path), "declare it with NewParentRef or NewChildRefs"
	case r.Deep:
		return fmt.Sprintf("%s.%s crosses more than one array", r.From, r.Path), "name one array of ids, or one array of documents that each hold an id"
	}
	return "", ""
}

// Relation is the relation, for diagrams.
func (r Ref) Relation(label string) model.Relation {
	to := model.ZeroOrOne
	if r.List != "" {
		to = model.Many
	}
	return model.Relation{From: r.From, FromPath: r.Path, To: r.To, ToPath: "_id", FromEnd: model.Many, ToEnd: to, Label: label}
}

// Index is the index by which the documents that hold an id are found.
func (r Ref) Index() model.Index {
	return commands.Lookup(r.From, "the documents of "+r.From+" that refer to a document of "+r.To, mql.E(r.Path, 1))
}

// Refers is the filter of the documents that hold one of some ids.
func (r Ref) Refers(ids bson.A) bson.D {
	cond := stmt.In(ids)
	if r.Open {
		cond = append(cond, mql.E("$not", mql.Op("$type", "array")))
	}
	return bson.D{{Key: r.Path, Value: cond}}
}

// Detach is the update that takes ids away: out of a list, or the single one.
func (r Ref) Detach(ids bson.A) bson.D {
	if r.List != "" {
		return stmt.Pulling(r.List, r.Key, ids)
	}
	return stmt.Unset(r.Path)
}

// Replace is the update that puts another id in the place of some, and its array filters.
func (r Ref) Replace(ids bson.A, by any) (update bson.D, arrayFilters []any) {
	if r.List == "" {
		return stmt.Set(r.Path, by), nil
	}
	return stmt.Set(JoinPath(r.List+".$[e]", r.Key), by), []any{bson.D{{Key: JoinPath("e", r.Key), Value: stmt.In(ids)}}}
}

// UpdateMany is a write to all documents that a filter on the reference matches. Its own effect takes them out of the
// filter, which is why it can be run again.
func (r Ref) UpdateMany(filter, update bson.D) model.Write {
	return model.Write{
		Collection: r.From, Index: r.Index().Name, Once: true,
		Model: &mongo.UpdateManyModel{Filter: filter, Update: update},
	}
}

// JoinPath joins the parts of a path; the last may be empty.
func JoinPath(parts ...string) string { return strings.TrimSuffix(strings.Join(parts, "."), ".") }

// Stored is the path of the id, or of the list that holds it.
func (r Ref) Stored() string { return cmp.Or(r.List, r.Path) }
