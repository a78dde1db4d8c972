// Package parentref keeps the id of a parent in each child: what is behind relate.ParentRef.
package parentref

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ParentRef is a single id of a parent in the children.
type ParentRef struct {
	Children, parents *core.Docs
	IDs               idref.Held
	ref               core.Field
	Path, CountUp     string // CountUp is "" for none
	order             bson.D // newest first, total
}

// Declare panics unless each child can hold one id and be put in order by a path.
func Declare(children *core.Docs, ref core.Field, parents *core.Docs, by, countUp string) ParentRef {
	place := core.Place("NewParentRef of " + children.Name())
	idref.Single(place, ref)
	switch {
	case ref.Path == "_id":
		place.Fail("the path is the _id, which can't change", "store the parent's id in another field")
	case by == ref.Path:
		place.Fail(fmt.Sprintf("By is the reference %q itself", ref.Path), "name a field in which the children of a parent differ, or leave By empty for the _id")
	case by != "":
		idref.Single(place, children.MustField(by))
	}
	if countUp != "" {
		checkCountUp(place, children.MustField(countUp), ref.Path)
	}
	return ParentRef{children, parents, idref.NewHeld(children, ref.Path, parents), ref, ref.Path, countUp, stmt.NewestFirst(by)}
}

// checkCountUp panics unless a path can be counted up with each write of the reference.
func checkCountUp(place core.Place, f core.Field, ref string) {
	idref.Single(place, f)
	switch {
	case !f.Open && (f.Type == reflect.TypeFor[bson.DateTime]() || !reflect.Zero(f.Type).CanInt()), f.StoresNull():
		place.Fail(fmt.Sprintf("CountUp %q is of type %s", f.Path, f.Type), "name a field of type int64 or int: the version that an embed.Versioned counts up")
	case core.Overlap(f.Path, "_id") || core.Overlap(f.Path, ref):
		place.Fail(fmt.Sprintf("CountUp %q is in the _id or the reference", f.Path), "name another field")
	}
}

func (r *ParentRef) Reference() idref.Ref {
	ref := idref.NewRef(r.Children.Name(), r.ref, r.parents.Name())
	ref.Open = false // declared as single
	return ref
}

func (r *ParentRef) Index() model.Index {
	why := "the " + r.Children.Name() + " of a document of " + r.parents.Name() + ", newest first"
	return commands.Lookup(r.Children.Name(), why, append(bson.D{{Key: r.Path, Value: 1}}, r.order...)...)
}

func (r *ParentRef) Indexes() []model.Index { return []model.Index{r.Index()} }

func (r *ParentRef) Relations() []model.Relation {
	return []model.Relation{{
		From: r.Children.Name(), FromPath: r.Path, To: r.parents.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// Footprints are the paths that are used.
func (r *ParentRef) Footprints() []model.Footprint {
	return append(model.Writes.In(r.Children.Name(), r.Path, r.CountUp), model.Reads.In(r.Children.Name(), r.order[0].Key)...)
}
