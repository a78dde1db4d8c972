package counter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A drift is a parent with the numbers that it holds, and those that its children make.
type drift struct {
	ID      bson.RawValue   `bson:"_id"`
	Stored  bson.Raw        `bson:"stored"`  // by flatName, without those that are missing
	Counted bson.Raw        `bson:"counted"` // the same by the children; null without a smallest, greatest or average
	Tokens  bson.RawValue   `bson:"tokens"`  // the parent's tokens, of type 0 for none
	Before  []bson.ObjectID `bson:"before"`  // the operations under way before the children were read
	After   []bson.ObjectID `bson:"after"`   // and after it
	Differs bool            `bson:"differs"`
}

// Tell leaves Problem empty for a parent whose numbers are right.
func (d drift) tell(f *model.Finding) {
	if f.ID = d.ID; d.Differs {
		f.Problem = fmt.Sprintf("stores %s, but its children make %s", model.Shell(d.Stored), model.Shell(d.Counted))
	}
}

// count is the pipeline that returns a drift for each parent. It reads the operations under way, the parent's children,
// and again the operations under way, in this order.
func (c *Counter) count(match bson.D) mongo.Pipeline {
	stored := bson.D{}
	for _, x := range c.slots {
		stored = append(stored, bson.E{Key: flatName(x.path), Value: "$" + x.path})
	}
	fields := bson.D{{Key: "stored", Value: stored}}
	first := func(name string) bson.E { return bson.E{Key: name, Value: mql.Op("$first", "$"+name)} }
	group := bson.D{first("stored")}
	if c.tokens != "" {
		fields = append(fields, bson.E{Key: "tokens", Value: "$" + c.tokens})
		group = append(group, first("tokens"), first("before"))
	}
	var out mongo.Pipeline
	if match != nil {
		out = append(out, mql.Match(match...))
	}
	out = append(out, mql.Project(fields...))
	out = append(out, c.underWay("before")...)
	unwind := bson.D{{Key: "path", Value: "$child"}, {Key: "preserveNullAndEmptyArrays", Value: true}}
	out = append(out, c.lookupChildren(), bson.D{{Key: "$unwind", Value: unwind}})
	out = append(out, mql.Group("$_id", append(group, c.accumulators()...)...))
	out = append(out, c.underWay("after")...)
	counted, differs := bson.D{}, bson.A{}
	for i, x := range c.slots {
		counted = append(counted, bson.E{Key: flatName(x.path), Value: c.made(i)})
		differs = append(differs, c.differs(i))
	}
	result := bson.D{
		{Key: "stored", Value: 1}, {Key: "counted", Value: counted}, {Key: "differs", Value: bson.D{{Key: "$or", Value: differs}}},
	}
	if c.tokens != "" {
		result = append(result, bson.E{Key: "tokens", Value: 1}, bson.E{Key: "before", Value: 1}, bson.E{Key: "after", Value: 1})
	}
	return append(out, mql.Project(result...))
}

// underWay looks up the operations under way on a parent. DocumentDB uses the partial index only if its condition is a $match
// of its own.
func (c *Counter) underWay(as string) mongo.Pipeline {
	if c.pending == "" {
		return nil
	}
	fields := bson.D{{Key: c.pending + ".op", Value: 1}, {Key: c.pending + ".parents", Value: 1}}
	return mongo.Pipeline{
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: c.docs.Name()}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: c.pending + ".parents"},
			{Key: "pipeline", Value: bson.A{mql.Match(c.hasPending()...), mql.Project(fields...)}}, {Key: "as", Value: as},
		}}},
		mql.Set(mql.E(as, "$"+as+"."+c.pending+".op")),
	}
}

// lookupChildren looks up the children that count. It keeps the reference in them, because DocumentDB joins after the
// projection.
func (c *Counter) lookupChildren() bson.D {
	inner := bson.A{mql.Project(commands.Fields(c.paths()...)...)}
	if len(c.filter) > 0 {
		inner = append(bson.A{mql.Match(c.filter...)}, inner...)
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: c.docs.Name()}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: c.reference},
		{Key: "pipeline", Value: inner}, {Key: "as", Value: "child"},
	}}}
}

// accumulators compute the i-th slot as vi, and for sums the sum of absolute values as ai.
func (c *Counter) accumulators() (out bson.D) {
	for i, x := range c.slots {
		path, name := "$child."+c.path(x), fmt.Sprint("v", i)
		var acc bson.D
		switch x.kind {
		case countChildren:
			acc = mql.Op("$sum", mql.Cond(mql.Op("$eq", mql.Op("$type", "$child._id"), "missing"), 0, 1))
		case countValues:
			acc = mql.Op("$sum", mql.Cond(mql.Op("$isNumber", path), 1, 0))
		case addUp:
			acc = mql.Op("$sum", path)
			size := mql.Cond(mql.Op("$isNumber", path), mql.Op("$abs", mql.Op("$toDouble", path)), 0)
			out = append(out, bson.E{Key: fmt.Sprint("a", i), Value: mql.Op("$sum", size)})
		case quotient:
			continue
		default:
			is := mql.Op("$isNumber", path)
			if c.sources[x.source].date {
				is = mql.Op("$eq", mql.Op("$type", path), "date")
			}
			acc = mql.Op([]string{"$min", "$max"}[x.kind-smallest], mql.Cond(is, path, nil))
		}
		out = append(out, bson.E{Key: name, Value: acc})
	}
	return out
}

// path is where a child has the number of a slot, or "".
func (c *Counter) path(x slot) string {
	if x.kind == countChildren || x.kind == quotient {
		return ""
	}
	return c.sources[x.source].path
}

// made is the expression of the i-th slot by the children.
func (c *Counter) made(i int) any {
	if x := c.slots[i]; x.kind == quotient {
		sum, n := fmt.Sprint("$v", x.sum), fmt.Sprint("$v", x.n)
		return mql.Cond(mql.Op("$gt", n, 0), mql.Op("$divide", sum, n), nil)
	}
	return fmt.Sprint("$v", i)
}

// differs is the expression that the i-th slot is not what the children make. Sums of floats must differ by more than
// 1e-9 of the sum of absolute values, because the order of adding changes how they are rounded.
func (c *Counter) differs(i int) bson.D {
	x, made := c.slots[i], c.made(i)
	stored := "$stored." + flatName(x.path)
	if x.extreme() {
		return mql.Op("$ne", mql.IfNull(stored, nil), made)
	}
	size := fmt.Sprint("$a", i)
	switch x.kind {
	case quotient:
		size = fmt.Sprint("$a", x.sum)
		made = mql.IfNull(made, 0)
	case addUp:
	default:
		return mql.Op("$ne", mql.IfNull(stored, 0), made)
	}
	held := mql.IfNull(stored, 0)
	floats := mql.Op("$in", "double", bson.A{mql.Op("$type", held), mql.Op("$type", made)})
	apart := mql.Op("$gt", mql.Op("$abs", mql.Op("$subtract", held, made)), mql.Op("$multiply", size, 1e-9))
	return mql.Cond(mql.Op("$and", floats, mql.Op("$isNumber", held)), apart, mql.Op("$ne", held, made))
}

func (c *Counter) Checks() []model.Check {
	check := model.Check{
		Name: fmt.Sprintf("%s.%s: numbers that differ from the documents of %s", c.parents.Name(), c.slotPaths(), c.docs.Name()), Collection: c.parents.Name(),
		Rule:     fmt.Sprintf("the numbers of each document agree with its children in %s", c.docs.Name()),
		Pipeline: append(c.count(nil), mql.Match(mql.E("differs", true)), mql.SortID()), Tell: found.Tells(drift.tell),
	}
	if c.partial {
		check.Age = time.Minute
	}
	check.Mend = found.Mends(check.Name, c.parents.Name(), c.repair)
	if c.pending == "" {
		return []model.Check{check, c.uncounted()}
	}
	return []model.Check{check, c.uncounted(), c.unfinished()}
}

// slotPaths are the paths of the parents' numbers, for the names of checks.
func (c *Counter) slotPaths() string {
	var paths []string
	for _, x := range c.slots {
		paths = append(paths, x.path)
	}
	return strings.Join(paths, ", ")
}

// uncounted finds the children that name a missing parent. A person decides about them.
func (c *Counter) uncounted() model.Check {
	return model.Check{
		Name: fmt.Sprintf("%s.%s: ids that no document of %s has, for its %s", c.docs.Name(), c.reference, c.parents.Name(), c.slotPaths()), Collection: c.docs.Name(),
		Rule: fmt.Sprintf("each id of %s.%s is the _id of a document of %s", c.docs.Name(), c.reference, c.parents.Name()),
		Pipeline: mongo.Pipeline{
			mql.Match(mql.E(c.reference, bson.D{{Key: "$ne", Value: nil}})), mql.Project(mql.E("parent", "$"+c.reference)),
			mql.Lookup(c.parents.Name(), "parent", "_id", "known", mql.E("_id", 1)), mql.Match(mql.E("known", mql.Op("$size", 0))),
			mql.Project(mql.E("parent", 1)), mql.SortID(),
		},
		Tell: func(f *model.Finding) error {
			f.ID = f.Detail.Lookup("_id")
			f.Problem = c.reference + " → " + model.Shell(f.Detail.Lookup("parent")) + ", which doesn't exist"
			return nil
		},
	}
}

// unfinished finds the operations that were begun, and mends by finishing those of an age.
func (c *Counter) unfinished() model.Check {
	return model.Check{
		Name: fmt.Sprintf("%s.%s: unfinished operations", c.docs.Name(), c.pending), Collection: c.docs.Name(),
		Rule:     "an operation on a document is finished within a minute",
		Index:    c.OpIndex().Name,
		Age:      time.Minute,
		Pipeline: mongo.Pipeline{mql.Match(c.isPending()...), mql.Project(bson.E{Key: c.pending + ".op", Value: 1}), mql.SortID()},
		Tell: func(f *model.Finding) error {
			op, _ := f.Detail.Lookup(c.pending, "op").ObjectIDOK()
			f.ID, f.Since = f.Detail.Lookup("_id"), op.Timestamp()
			f.Problem = fmt.Sprintf("operation %s was begun, but isn't finished", op.Hex())
			return nil
		},
		MendAll: c.settleAll,
	}
}

// isPending matches the children whose operation is under way, by the partial index.
func (c *Counter) isPending() bson.D {
	return bson.D{{Key: c.pending + ".op", Value: mql.Exists(true)}}
}

// settleAll finishes the operations that were begun before an age; of no age, all.
func (c *Counter) settleAll(ctx context.Context, db model.DB, age time.Duration) (all model.Result, _ error) {
	begun := c.isPending()
	if age > 0 {
		var err error
		if begun, err = c.PendingBefore(time.Now().Add(-age)); err != nil {
			return all, err
		}
	}
	children := &model.Find[bson.Raw]{Query: model.Query{
		Collection: c.docs.Name(), Filter: begun, Projection: bson.D{{Key: "_id", Value: 1}}, Index: c.OpIndex().Name, Deleted: true,
	}}
	for child, err := range children.Each(ctx, db) {
		if err != nil {
			return all, err
		}
		_, r, err := c.Settle(child.Lookup("_id")).Run(ctx, db)
		for _, s := range r.Steps {
			if s.Batch >= 0 {
				s.Batch += len(all.Batches)
			}
			all.Steps = append(all.Steps, s)
		}
		all.Batches = append(all.Batches, r.Batches...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// Recount counts the children of one parent, and writes the numbers that differ.
func (c *Counter) Recount(parent any) model.Change[model.Finding] {
	id, err := c.parents.ByID(parent)
	if err != nil {
		return commands.RefusedChange[model.Finding](c.parents.Name(), err)
	}
	check := c.Checks()[0]
	return model.Change[model.Finding]{
		Name: "counter " + c.docs.Name(), Attempts: 100, Tx: c.tokens == "" && !c.partial,
		Read: func(ctx context.Context, db model.DB) (model.Finding, error) {
			row, err := (&model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
				Collection: c.parents.Name(), Pipeline: c.count(id), Index: model.IDIndex,
			}}).One(ctx, db)
			f := model.Finding{Check: check.Name, Collection: c.parents.Name(), Detail: row}
			if err != nil {
				return f, err
			}
			return f, check.Tell(&f)
		},
		Decide: func(f model.Finding) (model.Plan, error) {
			var d drift
			if err := bson.Unmarshal(f.Detail, &d); err != nil {
				return model.Plan{}, err
			}
			if !sameTokens(d.Before, d.After) {
				return model.Plan{}, fmt.Errorf("docmodel: operations changed the children while they were counted: %w", model.ErrStale)
			}
			w := c.mend(d)
			if w.Model == nil && w.Err == nil {
				return model.Plan{}, nil
			}
			w.Expect = model.One
			return model.NewPlan(w), nil
		},
	}
}

// sameTokens reports whether no operation began or ended between two reads.
func sameTokens(a, b []bson.ObjectID) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(op bson.ObjectID) bool { return !slices.Contains(b, op) })
}

// mend is the write that gives a parent what its children make. It has no Model if there is nothing to write.
func (c *Counter) mend(d drift) model.Write {
	filter := commands.ByID(d.ID)
	var push bson.A
	if c.tokens != "" {
		filter = append(filter, stored.HoldsAt(c.tokens, d.Tokens))
		held := c.tokensIn(d.Tokens)
		for _, op := range d.After {
			if !slices.Contains(held, op) {
				push = append(push, op)
			}
		}
	}
	if !d.Differs && len(push) == 0 {
		return model.Write{}
	}
	if len(push) > c.keep {
		return model.Refused(c.parents.Name(), c.docs.Refuse("Keep", len(push), "more operations are in progress than the spec's Keep stores tokens for: raise Keep"))
	}
	var set, unset bson.D
	for _, x := range c.slots {
		v, err := d.Counted.LookupErr(flatName(x.path))
		switch {
		case err != nil:
			return model.Refused(c.parents.Name(), c.parents.Refuse(x.path, nil, "is missing from the finding: pass the findings unchanged"))
		case v.Type == bson.TypeNull:
			unset = append(unset, bson.E{Key: x.path, Value: ""})
		case v.Type == bson.TypeInt32 && !x.extreme():
			set = append(set, bson.E{Key: x.path, Value: int64(v.Int32())})
		default:
			set = append(set, bson.E{Key: x.path, Value: v})
		}
		if c.tokens == "" {
			held, _ := d.Stored.LookupErr(flatName(x.path))
			filter = append(filter, stored.HoldsAt(x.path, held))
		}
	}
	w := commands.UpdateIf(c.parents.Name(), filter, commands.Operators(mql.E("$set", set), mql.E("$unset", unset), mql.E("$push", c.remember(push...))))
	w.Deleted = true
	return w
}

func (c *Counter) repair(rows []drift) model.Plan {
	return found.Mended(rows, "some parents counted; the next check finds the others", func(i int, d drift) (w model.Write) {
		switch {
		case !stored.IsKey(d.ID):
			return found.NotReturned(c.parents.Name(), i, "_id")
		case !sameTokens(d.Before, d.After):
			return w
		}
		return c.mend(d)
	})
}
