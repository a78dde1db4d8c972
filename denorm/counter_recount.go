package denorm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A CounterDrift is a parent, with the numbers that it holds and those that its children make.
type CounterDrift struct {
	ID      bson.RawValue   `bson:"_id"`
	Stored  bson.Raw        `bson:"stored"`  // by path, with "/" for a dot; without those that are missing
	Counted bson.Raw        `bson:"counted"` // the same by the children; null for the smallest, greatest or average of none
	Tokens  bson.RawValue   `bson:"tokens"`  // the parent's tokens, of type 0 for none
	Before  []bson.ObjectID `bson:"before"`  // the operations under way before the children were read
	After   []bson.ObjectID `bson:"after"`   // and after it
	Differs bool            `bson:"differs"`
}

// String is the drift for a reader: "'oreilly' holds {countOfBooks: 2}, its children make {countOfBooks: 3}".
func (d CounterDrift) String() string {
	id, stored, counted := cut(model.Shell(d.ID)), model.Shell(d.Stored), model.Shell(d.Counted)
	return fmt.Sprintf("%s holds %s, its children make %s", id, stored, counted)
}

// count is the pipeline over parents that says for each what it holds and what its children make. It reads what is under
// way, the parent's children, and again what is under way, in this order.
func (c *counter) count(match bson.D) mongo.Pipeline {
	stored := bson.D{}
	for _, x := range c.slots {
		stored = append(stored, bson.E{Key: x.name(), Value: "$" + x.path})
	}
	fields := bson.D{{Key: "stored", Value: stored}}
	first := func(name string) bson.E { return bson.E{Key: name, Value: mql.Op("$first", "$"+name)} }
	group := bson.D{{Key: "_id", Value: "$_id"}, first("stored")}
	if c.tokens != "" {
		fields = append(fields, bson.E{Key: "tokens", Value: "$" + c.tokens})
		group = append(group, first("tokens"), first("before"))
	}
	var out mongo.Pipeline
	if match != nil {
		out = append(out, bson.D{{Key: "$match", Value: match}})
	}
	out = append(out, bson.D{{Key: "$project", Value: fields}})
	out = append(out, c.underWay("before")...)
	unwind := bson.D{{Key: "path", Value: "$child"}, {Key: "preserveNullAndEmptyArrays", Value: true}}
	out = append(out, c.lookupChildren(), bson.D{{Key: "$unwind", Value: unwind}})
	out = append(out, bson.D{{Key: "$group", Value: append(group, c.accumulators()...)}})
	out = append(out, c.underWay("after")...)
	counted, differs := bson.D{}, bson.A{}
	for i, x := range c.slots {
		counted = append(counted, bson.E{Key: x.name(), Value: c.made(i)})
		differs = append(differs, c.differs(i))
	}
	result := bson.D{
		{Key: "stored", Value: 1}, {Key: "counted", Value: counted}, {Key: "differs", Value: bson.D{{Key: "$or", Value: differs}}},
	}
	if c.tokens != "" {
		result = append(result, bson.E{Key: "tokens", Value: 1}, bson.E{Key: "before", Value: 1}, bson.E{Key: "after", Value: 1})
	}
	return append(out, bson.D{{Key: "$project", Value: result}})
}

// underWay looks up the operations under way on a parent. DocumentDB uses the partial index only where its condition stands beside.
func (c *counter) underWay(as string) mongo.Pipeline {
	if c.pending == "" {
		return nil
	}
	fields := bson.D{{Key: c.pending + ".op", Value: 1}, {Key: c.pending + ".parents", Value: 1}}
	return mongo.Pipeline{
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: c.children}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: c.pending + ".parents"},
			{Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: c.hasPending()}}, bson.D{{Key: "$project", Value: fields}}}}, {Key: "as", Value: as},
		}}},
		{{Key: "$set", Value: bson.D{{Key: as, Value: "$" + as + "." + c.pending + ".op"}}}},
	}
}

// lookupChildren looks up the children that count. The reference stays in what is looked up, for DocumentDB joins after it.
func (c *counter) lookupChildren() bson.D {
	fields := bson.D{}
	for _, path := range c.paths() {
		fields = append(fields, bson.E{Key: path, Value: 1})
	}
	inner := bson.A{bson.D{{Key: "$project", Value: fields}}}
	if len(c.filter) > 0 {
		inner = append(bson.A{bson.D{{Key: "$match", Value: c.filter}}}, inner...)
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: c.children}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: c.reference},
		{Key: "pipeline", Value: inner}, {Key: "as", Value: "child"},
	}}}
}

// accumulators add up the children, the i-th slot under vi, and the sizes of what is added up of floats under ai.
func (c *counter) accumulators() (out bson.D) {
	for i, x := range c.slots {
		path, name := "$child."+c.path(x), fmt.Sprint("v", i)
		var acc bson.D
		switch x.kind {
		case countChildren:
			acc = mql.Op("$sum", mql.Op("$cond", mql.Op("$eq", mql.Op("$type", "$child._id"), "missing"), 0, 1))
		case countValues:
			acc = mql.Op("$sum", mql.Op("$cond", mql.Op("$isNumber", path), 1, 0))
		case addUp:
			acc = mql.Op("$sum", path)
			size := mql.Op("$cond", mql.Op("$isNumber", path), mql.Op("$abs", mql.Op("$toDouble", path)), 0)
			out = append(out, bson.E{Key: fmt.Sprint("a", i), Value: mql.Op("$sum", size)})
		case quotient:
			continue
		default:
			is := mql.Op("$isNumber", path)
			if c.sources[x.source].date {
				is = mql.Op("$eq", mql.Op("$type", path), "date")
			}
			acc = mql.Op([]string{"$min", "$max"}[x.kind-smallest], mql.Op("$cond", is, path, nil))
		}
		out = append(out, bson.E{Key: name, Value: acc})
	}
	return out
}

func (c *counter) path(x slot) string {
	if x.kind == countChildren || x.kind == quotient {
		return ""
	}
	return c.sources[x.source].path
}

// made is the expression of what the children make of the i-th slot.
func (c *counter) made(i int) any {
	if x := c.slots[i]; x.kind == quotient {
		sum, n := fmt.Sprint("$v", x.sum), fmt.Sprint("$v", x.n)
		return mql.Op("$cond", mql.Op("$gt", n, 0), mql.Op("$divide", sum, n), nil)
	}
	return fmt.Sprint("$v", i)
}

// differs is the expression that the i-th slot is not what the children make. Sums that hold floats differ by more than
// 1e-9 of what was added up, for they were added in another order.
func (c *counter) differs(i int) bson.D {
	x, made := c.slots[i], c.made(i)
	stored := "$stored." + x.name()
	if x.extreme() {
		return mql.Op("$ne", mql.Op("$ifNull", stored, nil), made)
	}
	size := fmt.Sprint("$a", i)
	switch x.kind {
	case quotient:
		size = fmt.Sprint("$a", x.sum)
		made = mql.Op("$ifNull", made, 0)
	case addUp:
	default:
		return mql.Op("$ne", mql.Op("$ifNull", stored, 0), made)
	}
	held := mql.Op("$ifNull", stored, 0)
	floats := mql.Op("$in", "double", bson.A{mql.Op("$type", held), mql.Op("$type", made)})
	apart := mql.Op("$gt", mql.Op("$abs", mql.Op("$subtract", held, made)), mql.Op("$multiply", size, 1e-9))
	return mql.Op("$cond", mql.Op("$and", floats, mql.Op("$isNumber", held)), apart, mql.Op("$ne", held, made))
}

func (c *counter) checks() []model.Check {
	var paths []string
	for _, x := range c.slots {
		paths = append(paths, x.path)
	}
	check := model.Check{
		Name: fmt.Sprintf("%s.%s: numbers that differ from %s", c.parents, strings.Join(paths, ", "), c.children), Collection: c.parents,
		Rule:     fmt.Sprintf("the numbers of each document are those of its children in %s", c.children),
		Pipeline: c.check(), Tell: core.Tells[counterFinding](),
	}
	if c.partial {
		check.Age = time.Minute
	}
	check.Mend = core.Mends(check.Name, c.parents, c.repair)
	return []model.Check{check}
}

type counterFinding CounterDrift

func (d counterFinding) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %s, its children make %s", model.Shell(d.Stored), model.Shell(d.Counted))
}

func (c *counter) check() mongo.Pipeline {
	return append(c.count(nil),
		bson.D{{Key: "$match", Value: bson.D{{Key: "differs", Value: true}}}}, bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}})
}

func (c *counter) recount(q model.Query) model.Change[CounterDrift] {
	if q.Err != nil {
		return refusedChange[CounterDrift](c.parents, q.Err)
	}
	return model.Change[CounterDrift]{
		Attempts: 100, Tx: c.tokens == "" && !c.partial,
		Read: func(ctx context.Context, db *mongo.Database) (CounterDrift, error) {
			return model.Aggregate[CounterDrift]{Aggregation: model.Aggregation{
				Collection: c.parents, Pipeline: c.count(q.Filter), Index: model.IDIndex,
				Options: model.ReadOptions{ReadPreference: readpref.Primary()},
			}}.One(ctx, db)
		},
		Decide: func(d CounterDrift) (model.Plan, error) {
			if !sameTokens(d.Before, d.After) {
				return model.Plan{}, fmt.Errorf("docmodel: operations came while the children were counted: %w", model.ErrStale)
			}
			w, ok := c.mend(d)
			if !ok {
				return model.Plan{}, nil
			}
			w.Expect = model.One
			return model.NewPlan(w), nil
		},
	}
}

func sameTokens(a, b []bson.ObjectID) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(op bson.ObjectID) bool { return !slices.Contains(b, op) })
}

// mend is the write that gives a parent what its children make; false if there is nothing to write.
func (c *counter) mend(d CounterDrift) (model.Write, bool) {
	id := bson.D{{Key: "_id", Value: model.Eq(clone(d.ID))}}
	filter := id[:1:1]
	var push bson.A
	if c.tokens != "" {
		filter = append(filter, holdsAt(c.tokens, clone(d.Tokens)))
		held := c.tokensIn(d.Tokens)
		for _, op := range d.After {
			if !slices.Contains(held, op) {
				push = append(push, op)
			}
		}
	}
	if !d.Differs && len(push) == 0 {
		return model.Write{}, false
	}
	if len(push) > c.keep {
		err := c.doc.refused("Keep", len(push), "more operations are under way than tokens are kept")
		return model.Refused(c.parents, err), true
	}
	var set, unset bson.D
	for _, x := range c.slots {
		v, err := d.Counted.LookupErr(x.name())
		switch {
		case err != nil:
			err := &model.ValueError{Collection: c.parents, Field: x.path, Reason: "was not counted: pass what the check returned"}
			return model.Refused(c.parents, err), true
		case v.Type == bson.TypeNull:
			unset = append(unset, bson.E{Key: x.path, Value: ""})
		case v.Type == bson.TypeInt32 && !x.extreme():
			set = append(set, bson.E{Key: x.path, Value: int64(v.Int32())})
		default:
			set = append(set, bson.E{Key: x.path, Value: clone(v)})
		}
		if c.tokens == "" {
			held, _ := d.Stored.LookupErr(x.name())
			filter = append(filter, holdsAt(x.path, clone(held)))
		}
	}
	var u bson.D
	add := func(op string, fields bson.D) {
		if len(fields) > 0 {
			u = append(u, bson.E{Key: op, Value: fields})
		}
	}
	add("$set", set)
	add("$unset", unset)
	if len(push) > 0 {
		add("$push", bson.D{{Key: c.tokens, Value: bson.D{{Key: "$each", Value: push}, {Key: "$slice", Value: -c.keep}}}})
	}
	w := model.Write{Collection: c.parents, Index: model.IDIndex, Once: true, Deleted: true}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: u}
	return w, true
}

func (c *counter) repair(found []CounterDrift) model.Plan {
	var p model.Plan
	for i, d := range found {
		if !isKey(d.ID) {
			err := c.doc.refused(fmt.Sprintf("found[%d]", i), nil, "has no _id: pass what the check returned")
			return model.RefusedPlan(c.parents, err)
		}
		if !sameTokens(d.Before, d.After) {
			continue
		}
		if w, ok := c.mend(d); ok {
			p.Steps = append(p.Steps, w)
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some parents counted, others not yet"
	}
	return p
}

// A CounterRecount counts every parent that differs. Make it with [Counter.RecountAll].
type CounterRecount struct {
	c     *counter
	wait  time.Duration
	found func(context.Context, *mongo.Database) ([]CounterDrift, error)
}

// CounterRecounted is what a [CounterRecount] did.
type CounterRecounted struct {
	Parents int  // that were written, in all passes
	Passes  int  // that were run
	Due     bool // a second pass is due and was not run to its end: run the recount again, when what is under way has ended
}

// SecondPass reports whether the recount needs two passes: with CounterSpec.Partial, outside a transaction. The first may
// count a child whose parent is yet to be told of it; the second begins when such an operation has ended.
func (r *CounterRecount) SecondPass(ctx context.Context) bool {
	if ctx == nil {
		return r.c.partial
	}
	s := mongo.SessionFromContext(ctx)
	return r.c.partial && (s == nil || !s.TransactionRunning())
}

// Run counts the parents that a check finds, each by [Counter.Recount]; where a second pass is due, it waits as long as
// an operation takes at most, and runs that too. On an error it says how far it came. A cut leaves parents that are not
// counted yet; it can be run again.
//
// Cost: for each pass the check, and two commands for each parent that differs; documents written: those.
func (r *CounterRecount) Run(ctx context.Context, db *mongo.Database) (out CounterRecounted, err error) {
	if err := model.CheckRun(ctx, db); err != nil {
		return out, err
	}
	ctx = runctx.Deciding(ctx)
	out.Due = r.SecondPass(ctx)
	if err := r.pass(ctx, db, &out); err != nil || !out.Due {
		return out, err
	}
	timer := time.NewTimer(r.wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return out, ctx.Err()
	case <-timer.C:
	}
	if err := r.pass(ctx, db, &out); err != nil {
		return out, err
	}
	out.Due = false
	return out, nil
}

func (r *CounterRecount) pass(ctx context.Context, db *mongo.Database, out *CounterRecounted) error {
	found, err := r.found(ctx, db)
	if err != nil {
		return err
	}
	for _, d := range found {
		filter := bson.D{{Key: "_id", Value: model.Eq(clone(d.ID))}}
		_, result, err := r.c.recount(model.Query{Filter: filter}).Run(ctx, db)
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
		out.Parents += int(result.Modified())
	}
	out.Passes++
	return nil
}
