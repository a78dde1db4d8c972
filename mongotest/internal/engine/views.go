package engine

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// maxViewDepth is how many views may stand on each other (https://www.mongodb.com/docs/manual/core/views/).
const maxViewDepth = 20

// systemViews is the collection of a database that lists its views.
const systemViews = "system.views"

// resolveView returns the collection that a namespace reads from, and the stages over it: none unless it is a view's.
func resolveView(s *store.State, ns store.Namespace) (store.Namespace, bson.A, error) {
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

// isView reports whether the command's collection is a view.
func (r *request) isView() bool {
	name, _ := r.body[0].Value.(string)
	c := r.state().Collection(store.Namespace{DB: r.db, Coll: name})
	return c != nil && c.View != nil
}

// readView reads the options of create or collMod that make a view, nil if it asks for none.
func readView(r *request, a *args.Reader, ns store.Namespace) *store.View {
	if !a.Has("viewOn") && !a.Has("pipeline") {
		return nil
	}
	v := &store.View{On: a.Text("viewOn"), Pipeline: a.Array("pipeline")}
	switch {
	case a.Err != nil:
		return v
	case !a.Has("viewOn"):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified"))
		return v
	case v.On == "":
		a.Fail(mongoerr.New(mongoerr.BadValue, "'viewOn' cannot be empty"))
		return v
	case r.txn != nil:
		a.Fail(mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot create a view in a multi-document transaction."))
	}
	if v.Pipeline == nil {
		v.Pipeline = bson.A{}
	}
	_, err := checkNamespace(ns.DB, v.On)
	a.Fail(err)
	a.Fail(checkViewPipeline(r, v))
	return v
}

// checkViewPipeline holds that a view's stages are ones that a view may have.
func checkViewPipeline(r *request, v *store.View) error {
	p, err := pipeline.Parse(v.Pipeline, &environment{request: r, state: r.state(), watch: r.watch})
	if isWatch(v.Pipeline) {
		return mongoerr.New(mongoerr.OptionNotSupportedOnView, "$changeStream cannot be used in a view definition")
	}
	if err == nil && p.Writes() {
		last := v.Pipeline[len(v.Pipeline)-1].(bson.D)[0].Key
		return mongoerr.New(mongoerr.OptionNotSupportedOnView,
			"The aggregation stage %s in location %d of the pipeline cannot be used in the view definition",
			last, len(v.Pipeline)-1)
	}
	return err
}

// options are the view's, as listCollections shows them.
func viewOptions(v *store.View) bson.D {
	return bson.D{{Key: "viewOn", Value: v.On}, {Key: "pipeline", Value: v.Pipeline}}
}

// checkCycle refuses a view that would stand on itself, or on too many others.
func checkCycle(s *store.State, ns store.Namespace, v *store.View) error {
	path := []string{ns.Coll}
	var follow func(v *store.View) error
	follow = func(v *store.View) error {
		for _, name := range append([]string{v.On}, mentioned(v.Pipeline)...) {
			if name == ns.Coll {
				return mongoerr.New(mongoerr.GraphContainsCycle, "View cycle detected: %s",
					strings.Join(append(path, name), " => "))
			}
			c := s.Collection(store.Namespace{DB: ns.DB, Coll: name})
			if c == nil || c.View == nil {
				continue
			}
			if path = append(path, name); len(path) > maxViewDepth {
				return mongoerr.New(mongoerr.ViewDepthLimitExceeded, "View depth limit exceeded; maximum depth is %d", maxViewDepth)
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

// mentioned lists the collections that stages read from beside their own.
func mentioned(stages bson.A) (names []string) {
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
					case isText && (f.Key == "from" && e.Key != "$unionWith" || f.Key == "coll" && e.Key == "$unionWith"):
						names = append(names, name)
					case isList && (f.Key == "pipeline" || e.Key == "$facet"):
						names = append(names, mentioned(list)...)
					}
				}
			}
		}
	}
	return names
}

// putView makes a view, or changes one.
func putView(w *store.Writer, ns store.Namespace, v *store.View) error {
	if err := checkCycle(w.State(), ns, v); err != nil {
		return err
	}
	form := store.Form{View: v}
	var err error
	if w.Collection(ns) == nil {
		err = w.CreateAs(ns, viewOptions(v), form)
	} else {
		err = w.SetForm(ns, viewOptions(v), form)
	}
	if err != nil {
		return err
	}
	return listView(w, ns, v)
}

// listView lists a view in system.views, or takes it out if v is nil.
func listView(w *store.Writer, ns store.Namespace, v *store.View) error {
	list := store.Namespace{DB: ns.DB, Coll: systemViews}
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
	_, err := w.Insert(list, append(bson.D{{Key: "_id", Value: ns.String()}}, viewOptions(v)...))
	return err
}

// over returns the request as an aggregate command with these stages on the same collection, which is a view, and with
// those of the request's fields that such a command has.
func (r *request) over(stages bson.A, more ...bson.E) *request {
	next := *r
	next.command = commands["aggregate"]
	next.body = append(bson.D{{Key: "aggregate", Value: r.body[0].Value}, {Key: "pipeline", Value: stages}}, more...)
	for _, name := range []string{"hint", "let", "allowDiskUse", "collation"} {
		if v, ok := bsonval.Get(r.body, name); ok {
			next.body = append(next.body, bson.E{Key: name, Value: v})
		}
	}
	if bsonval.Index(next.body, "cursor") < 0 {
		next.body = append(next.body, bson.E{Key: "cursor", Value: bson.D{}})
	}
	return &next
}

// findOver returns a find on a view as an aggregate.
func findOver(r *request) (*request, error) {
	a := r.args()
	for _, name := range []string{
		"returnKey", "showRecordId", "tailable", "awaitData", "noCursorTimeout", "oplogReplay", "min", "max",
	} {
		if v, ok := a.Get(name); ok && !bsonval.Equal(v, false) && !bsonval.Equal(v, bson.D{}) {
			return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Option %s not supported in aggregation.", name)
		}
	}
	a.Boolean("allowPartialResults", false)
	limit := a.Integer("limit", 0)
	if a.Boolean("singleBatch", false) && limit != 1 {
		return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Option singleBatch not supported in aggregation.")
	}
	var stages bson.A
	add := func(stage string, v any) { stages = append(stages, bson.D{{Key: stage, Value: v}}) }
	if filter := a.Document("filter"); len(filter) > 0 {
		add("$match", filter)
	}
	if sort := a.Document("sort"); len(sort) > 0 {
		if bsonval.Index(sort, "$natural") >= 0 {
			return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Sort option $natural not supported in aggregation")
		}
		add("$sort", sort)
	}
	if skip := a.Natural("skip", 0); skip > 0 {
		add("$skip", skip)
	}
	if limit != 0 {
		add("$limit", max(limit, -limit))
	}
	if fields := a.Document("projection"); len(fields) > 0 {
		add("$project", fields)
	}
	batch := bson.D{}
	if v, ok := a.Get("batchSize"); ok {
		batch = bson.D{{Key: "batchSize", Value: v}}
	}
	return r.over(stages, bson.E{Key: "cursor", Value: batch}), a.Err
}

// countOver returns a count on a view as an aggregate, whose result has one document with the number, or none.
func countOver(r *request) (*request, error) {
	a := r.args()
	stages := bson.A{bson.D{{Key: "$match", Value: append(bson.D{}, a.Document("query")...)}}}
	if skip := a.Natural("skip", 0); skip > 0 {
		stages = append(stages, bson.D{{Key: "$skip", Value: skip}})
	}
	if limit := a.Integer("limit", 0); limit != 0 {
		stages = append(stages, bson.D{{Key: "$limit", Value: max(limit, -limit)}})
	}
	a.Refuse("fields", bson.D{})
	return r.over(append(stages, bson.D{{Key: "$count", Value: "count"}})), a.Err
}

// distinctOver returns a distinct on a view as an aggregate, whose result has the documents that have the values.
func distinctOver(r *request) (*request, error) {
	a := r.args()
	return r.over(bson.A{bson.D{{Key: "$match", Value: append(bson.D{}, a.Document("query")...)}}}), a.Err
}

// documentsOver runs an aggregate command to its end.
func documentsOver(r *request, err error) pipeline.Docs {
	var x *aggregation
	if err == nil {
		x, err = readAggregate(r)
	}
	if err != nil {
		return func(yield func(bson.D, error) bool) { yield(nil, err) }
	}
	return x.rest.Run(drain(x.plan))
}
