package forms

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// maxViewDepth is how many views may stand on each other (https://www.mongodb.com/docs/manual/core/views/).
const maxViewDepth = 20

// SystemViews is the collection of a database that lists its views.
const SystemViews = "system.views"

// ResolveView returns the collection that a namespace reads from, and the stages over it: none unless it is a view's.
// The stages of the view that is nearest to the collection come first. All commands that read call it.
func ResolveView(s *store.State, ns store.Namespace) (store.Namespace, bson.A, error) {
	var stages bson.A
	for range maxViewDepth + 1 {
		c := s.Collection(ns)
		if c == nil || c.View == nil {
			return ns, stages, nil
		}
		stages = slices.Concat(c.View.Pipeline, stages)
		ns.Coll = c.View.On
	}
	return ns, nil, mongoerr.New(mongoerr.ViewDepthLimitExceeded,
		"View depth too deep or view cycle detected; maximum depth is %d", maxViewDepth)
}

// ShowView returns the options of a view.
func ShowView(v *store.View) bson.D {
	return bson.D{{Key: "viewOn", Value: v.On}, {Key: "pipeline", Value: v.Pipeline}}
}

// checkCycle refuses a view that would read from itself, or from too many other views.
func checkCycle(s *store.State, ns store.Namespace, v *store.View) error {
	path := []string{ns.Coll}
	var follow func(v *store.View) error
	follow = func(v *store.View) error {
		for _, name := range append([]string{v.On}, findCollections(v.Pipeline)...) {
			if name == ns.Coll {
				return mongoerr.New(mongoerr.GraphContainsCycle, "View cycle detected: %s",
					strings.Join(append(path, name), " => "))
			}
			c := s.Collection(store.Namespace{DB: ns.DB, Coll: name})
			if c == nil || c.View == nil {
				continue
			}
			if path = append(path, name); len(path) > maxViewDepth {
				return mongoerr.New(mongoerr.ViewDepthLimitExceeded,
					"View depth limit exceeded; maximum depth is %d", maxViewDepth)
			}
			if err := follow(c.View); err != nil {
				return err
			}
			path = path[:len(path)-1]
		}
		return nil
	}
	return follow(v)
}

// findCollections returns the collections from which stages read, other than the pipeline's own: from of $lookup and
// $graphLookup, coll of $unionWith, and those within inner pipelines.
func findCollections(stages bson.A) (names []string) {
	for _, stage := range stages {
		d, _ := stage.(bson.D)
		for _, e := range d {
			switch v := e.Value.(type) {
			case string:
				if e.Key == "$unionWith" {
					names = append(names, v)
				}
			case bson.D:
				for _, f := range v {
					name, isText := f.Value.(string)
					list, isList := f.Value.(bson.A)
					switch {
					case isText && f.Key == "from" && e.Key != "$unionWith",
						isText && f.Key == "coll" && e.Key == "$unionWith":
						names = append(names, name)
					case isList && (f.Key == "pipeline" || e.Key == "$facet"):
						names = append(names, findCollections(list)...)
					}
				}
			}
		}
	}
	return names
}

// PutView creates or replaces a view, for create and collMod.
func PutView(w *store.Writer, ns store.Namespace, v *store.View) error {
	if err := checkCycle(w.State(), ns, v); err != nil {
		return err
	}
	form := store.Form{View: v}
	var err error
	if w.Collection(ns) == nil {
		err = w.CreateAs(ns, ShowView(v), form)
	} else {
		err = w.SetForm(ns, ShowView(v), form)
	}
	if err != nil {
		return err
	}
	return UpdateViewList(w, ns, v)
}

// UpdateViewList stores a view's document in system.views, or removes it if v is nil. The document is
//
//	{_id: "db.view", viewOn: "collection", pipeline: […]}
func UpdateViewList(w *store.Writer, ns store.Namespace, v *store.View) error {
	list := store.Namespace{DB: ns.DB, Coll: SystemViews}
	if c := w.Collection(list); c != nil {
		for r := range c.Records.All() {
			if id, _ := bsonval.Get(r.Doc, "_id"); id == ns.String() {
				if err := w.Delete(list, r); err != nil {
					return err
				}
			}
		}
	}
	if v == nil {
		return nil
	}
	_, err := w.Insert(list, append(bson.D{{Key: "_id", Value: ns.String()}}, ShowView(v)...))
	return err
}
