// Trees within documents: articles with remarks, in each form that paths.DocumentTree can store.

package pathstest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// RemarkIDs returns the ids of remarks.
func RemarkIDs(nodes []Remark) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.ID)
	}
	return out
}

// ReadDocument returns the stored article as text, so that a test can see that nothing was written.
func (f DocumentForm) ReadDocument(t testing.TB, db *mongo.Database) string {
	t.Helper()
	raw, err := db.Collection(f.Name).FindOne(t.Context(), bson.D{}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	return raw.String()
}

// DamageList returns what the check finds within one document. An entry has the node's place in the list and the kind
// of the problem: "3:orphan".
func DamageList[E, N, K any](
	ctx context.Context, db *mongo.Database, tree *paths.DocumentTree[E, N, K], owner any,
) (all []string, _ error) {
	for f, err := range tree.Checks()[0].In(bson.D{{Key: "_id", Value: owner}}).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		var detail struct{ Problems []struct{ Kind, At string } }
		if err := bson.Unmarshal(f.Detail, &detail); err != nil {
			return nil, err
		}
		for _, p := range detail.Problems {
			all = append(all, strings.TrimPrefix(p.At, "remarks.")+":"+p.Kind)
		}
	}
	return all, nil
}

// An Article is a document with a tree of remarks. Each form uses some of a Remark's fields:
//
//	flat     [{id: "a"}, {id: "b", parent: "a"}]
//	keyed    the same with order: "…", the key among siblings
//	nested   [{id: "a", below: [{id: "b"}]}]
type (
	Article struct {
		ID      string   `bson:"_id"`
		Rev     int64    `bson:"rev"`
		Remarks []Remark `bson:"remarks,omitempty"`
	}
	Remark struct {
		ID     string   `bson:"id"`
		Parent string   `bson:"parent,omitempty"`
		Order  string   `bson:"order,omitempty"`
		Text   string   `bson:"text,omitempty"`
		Likes  int      `bson:"likes,omitempty"`
		Below  []Remark `bson:"below,omitempty"`
	}
	Remarks = paths.DocumentTree[Remark, string, string]
)

// A DocumentForm is a form of the tree, in a collection of its own.
type DocumentForm struct {
	// Name is the name of the form in tests, and of its collection.
	Name string
	Docs *model.Collection[Article, string]
	Tree *Remarks
	Spec paths.DocumentTreeSpec
}

var (
	// The forms of a tree within a document. "Keyed" has order keys. "Rev" has the field rev of the article, which
	// counts the changes of its tree, so that a change can refuse a tree that was changed since it was read.
	FlatForm      = DocumentFormOf("listed", paths.DocumentTreeSpec{})
	FlatRevForm   = DocumentFormOf("listedRev", paths.DocumentTreeSpec{Revision: "rev"})
	KeyedForm     = DocumentFormOf("keyed", paths.DocumentTreeSpec{Order: "order"})
	KeyedRevForm  = DocumentFormOf("keyedRev", paths.DocumentTreeSpec{Order: "order", Revision: "rev"})
	NestedForm    = DocumentFormOf("nested", paths.DocumentTreeSpec{Nested: "below"})
	NestedRevForm = DocumentFormOf("nestedRev", paths.DocumentTreeSpec{Nested: "below", Revision: "rev"})

	DocumentForms = []DocumentForm{FlatForm, FlatRevForm, KeyedForm, KeyedRevForm, NestedForm, NestedRevForm}
)

// DocumentFormOf declares a tree within the articles of a collection with the given name.
func DocumentFormOf(name string, spec paths.DocumentTreeSpec) DocumentForm {
	c := model.NewCollection[Article, string](name)
	return DocumentForm{
		Name: name, Docs: c, Tree: paths.NewDocumentTree[Remark, string](c, "remarks", spec), Spec: spec,
	}
}

// Start empties the collection, and stores the article "p" with the given remarks as they are.
func (f DocumentForm) Start(t testing.TB, db *mongo.Database, more ...Remark) {
	t.Helper()
	if _, err := db.Collection(f.Name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection(f.Name).InsertOne(t.Context(), Article{ID: "p", Remarks: more}); err != nil {
		t.Fatal(err)
	}
}

// DocumentForest returns remarks in preorder in the notation of [Shape].
func DocumentForest(visits []paths.Visit[Remark]) string {
	var b strings.Builder
	depth := -1
	for i, v := range visits {
		switch {
		case v.Depth > depth && i > 0:
			b.WriteString("(")
		case i > 0:
			b.WriteString(strings.Repeat(")", depth-v.Depth) + " ")
		}
		depth = v.Depth
		b.WriteString(v.Doc.ID)
	}
	return b.String() + strings.Repeat(")", max(depth, 0))
}

// Shape returns the stored tree in the notation of [Shape].
func (f DocumentForm) Shape(t testing.TB, db *mongo.Database) string {
	t.Helper()
	all, err := f.ReadAll(t.Context(), db, "p")
	if err != nil {
		t.Fatal(err)
	}
	return DocumentForest(all)
}

// ReadAll reads an article's remarks, in preorder.
func (f DocumentForm) ReadAll(
	ctx context.Context, db *mongo.Database, owner string,
) (out []paths.Visit[Remark], err error) {
	doc, err := f.Docs.ByID(owner).One(ctx, db)
	if err != nil {
		return nil, err
	}
	for v, err := range f.Tree.Arrange(doc.Remarks) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// ReadForest returns the tree of an article's remarks as a forest in memory.
func (f DocumentForm) ReadForest(ctx context.Context, db *mongo.Database, owner string) (*paths.Forest[string], error) {
	doc, err := f.Docs.ByID(owner).One(ctx, db)
	if err != nil {
		return nil, err
	}
	return paths.NewForest(f.Tree.Arrange(doc.Remarks), func(r Remark) string { return r.ID })
}

// Grow inserts remarks by the tree's own method Insert, until they make a tree in the notation of [Shape].
func (f DocumentForm) Grow(t testing.TB, db *mongo.Database, notation string) {
	t.Helper()
	f.Start(t, db)
	parents := []string{}
	last := ""
	for token := range strings.FieldsSeq(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(notation)) {
		switch token {
		case "(":
			parents = append(parents, last)
		case ")":
			parents = parents[:len(parents)-1]
		default:
			at := paths.LastRoot[string]()
			if len(parents) > 0 {
				at = paths.LastChild(parents[len(parents)-1])
			}
			last = token
			if _, err := f.Tree.Insert("p", Remark{ID: token}, at).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ErrDocument stands for any *model.ValueError in tables of wanted errors.
var ErrDocument = errors.New("a *model.ValueError")

// WantDocumentError fails the test unless an error is the wanted one. The reason is the name of the case.
func WantDocumentError(t *testing.T, reason string, err, want error) {
	t.Helper()
	var value *model.ValueError
	if ok := want == ErrDocument && errors.As(err, &value) || errors.Is(err, want); !ok {
		t.Errorf("%s: %v, want %v", reason, err, want)
	}
}
