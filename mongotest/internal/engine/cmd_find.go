package engine

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

func init() {
	register(&command{name: "find", txn: true, run: find, fields: []string{
		"find", "filter", "sort", "projection", "hint", "skip", "limit", "batchSize", "singleBatch", "let",
		"allowDiskUse", "noCursorTimeout", "allowPartialResults", "collation", "min", "max", "returnKey",
		"showRecordId", "tailable", "awaitData", "oplogReplay",
	}})
}

// finder is a find command that has been read.
type finder struct {
	ns   store.Namespace
	plan *plan.Plan
	shape
	batch    int64
	single   bool
	tailable bool
	await    bool
}

func find(r *request) (reply, error) {
	if r.isView() {
		over, err := findOver(r)
		if err != nil {
			return nil, err
		}
		return aggregate(over)
	}
	f, err := readFind(r)
	if err != nil {
		return nil, err
	}
	if f.tailable {
		return tailFind(r, f, f.await)
	}
	src := &found{exec: f.plan.Open(), shape: f.shape}
	return r.first(f.ns, src, f.batch, f.single)
}

// readFind reads a find command and plans it.
func readFind(r *request) (*finder, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	coll := r.state().Collection(ns)
	a := r.args()
	f := &finder{ns: ns, batch: a.natural("batchSize", defaultFirstBatch), single: a.boolean("singleBatch", false)}
	q := plan.Query{
		Watch: r.watch, Filter: a.document("filter"), Sort: a.document("sort"), Hint: hint(a),
		Skip: a.natural("skip", 0), Limit: a.integer("limit", 0),
	}
	if q.Limit < 0 && q.Limit > math.MinInt64 {
		q.Limit, f.single = -q.Limit, true
	}
	f.tailable, f.await = a.boolean("tailable", false), a.boolean("awaitData", false)
	a.fail(checkTail(a, f.tailable, f.await, f.single, q))
	// A result that the limit ends early has no need for a cursor.
	if q.Limit > 0 && q.Limit <= f.batch && !f.tailable {
		f.single, f.batch = true, max(f.batch, q.Limit)
	}
	spec := a.document("projection")
	q.NoDisk = !a.boolean("allowDiskUse", true)
	a.boolean("noCursorTimeout", false)
	a.boolean("allowPartialResults", false)
	a.boolean("oplogReplay", false)
	for _, name := range []string{"min", "max"} {
		a.refuse(name, bson.D{})
	}
	f.returnKey, f.recordID = a.boolean("returnKey", false), a.boolean("showRecordId", false)
	q.Keyed = f.returnKey
	now := r.engine.now()
	a.special = r.special(ns)
	q.Matcher = a.matcher(q.Filter, now, "let", a.collation(coll))
	if a.err != nil {
		return nil, a.err
	}
	if len(spec) > 0 {
		if f.projection, err = projection.ParseAt(spec, q.Matcher, now); err != nil {
			return nil, err
		}
	}
	f.plan, err = plan.Choose(coll, q)
	return f, err
}

// matcher parses a filter under a collation, for which the field of that name defines variables.
func (a *args) matcher(filter bson.D, now time.Time, let string, by *collation.Collator) *query.Matcher {
	vars := a.variables(let, now, by)
	if a.err != nil {
		return nil
	}
	m, err := query.Parse(filter, query.Options{Now: now, Vars: vars, Watch: a.watch, Special: a.special, Collation: by})
	if err != nil {
		a.fail(err)
	}
	return m
}

// variables returns what a let document defines: constants, as no document is
// at hand when they are evaluated.
func (a *args) variables(name string, now time.Time, by *collation.Collator) map[string]any {
	let := a.document(name)
	if len(let) == 0 {
		return nil
	}
	vars := make(map[string]any, len(let))
	for _, e := range let {
		v, err := constant(e.Value, a.watch, now, by)
		if err != nil {
			a.fail(err)
		}
		vars[e.Key] = v
	}
	return vars
}

// hint returns the name or the key of the index to use, nil for none.
func hint(a *args) any {
	v, ok := a.get("hint")
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case string, bson.D:
		return v
	}
	a.fail(mongoerr.New(mongoerr.FailedToParse, "hint must be a string or an object, not %s", bsonval.TypeName(v)))
	return nil
}
