package counter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A drift is a parent with the numbers that it stores, and the numbers that its children
// make.
type drift struct {
	ID      bson.RawValue `bson:"_id"`
	Stored  bson.Raw      `bson:"stored"`  // by flatName, without those that are missing
	Counted bson.Raw      `bson:"counted"` // the same by the children; null without a smallest, greatest or average
	Tokens  bson.RawValue `bson:"tokens"`  // the parent's tokens, of type 0 for none
	Differs bool          `bson:"differs"`
}

// describeFinding leaves Problem empty for a parent whose numbers are right.
func (d drift) describeFinding(f *model.Finding) {
	if f.ID = d.ID; d.Differs {
		f.Problem = fmt.Sprintf("stores %s, but its children make %s", model.Shell(d.Stored), model.Shell(d.Counted))
	}
}

// countEachParent is the pipeline that returns a drift for each parent. It reads the
// parent before its children.
func (c *untypedCounter) countEachParent(stages ...bson.D) mongo.Pipeline {
	unwind := bson.D{{Key: "path", Value: "$child"}, {Key: "preserveNullAndEmptyArrays", Value: true}}
	children := mongo.Pipeline{mql.Project(c.projectParent()...), c.lookupChildren(), {{Key: "$unwind", Value: unwind}}}
	return slices.Concat(stages, children, c.compareNumbers())
}

// countAllParents is the pipeline that returns the drifts of all parents with wrong
// numbers. It reads the parents, then the children, and groups them together, so it needs
// no index. Last it reads each such parent again: one that has changed since it was read
// is left out.
func (c *untypedCounter) countAllParents() mongo.Pipeline {
	counts := bsondoc.JoinFilters(bson.D{{Key: c.reference, Value: bson.D{{Key: "$ne", Value: nil}}}}, c.filter)
	union := bson.D{{Key: "coll", Value: c.docs.Name()}, {Key: "pipeline", Value: bson.A{
		mql.Match(counts...), mql.Project(commands.ProjectFields(c.listChildPaths()...)...),
		mql.Project(mql.E("_id", "$"+c.reference), mql.E("child", "$$ROOT")),
	}}}
	parent := mql.Project(append(c.projectParent(), mql.E("isParent", mql.Literal(true)))...)
	now := mql.Lookup(c.parents.Name(), "_id", "_id", "now", c.projectParent()...)
	same := func(name string) bson.D {
		return mql.Op("$eq", mql.IfNull("$"+name, nil), mql.IfNull(mql.Op("$first", "$now."+name), nil))
	}
	return slices.Concat(
		mongo.Pipeline{parent, {{Key: "$unionWith", Value: union}}},
		c.compareNumbers(mql.E("isParent", mql.Op("$max", "$isParent"))),
		mongo.Pipeline{mql.Match(mql.E("isParent", true), mql.E("differs", true))},
		stored.SkipUnfinished(c.docs),
		mongo.Pipeline{
			now, mql.Match(mql.E("$expr", mql.Op("$and", same("stored"), same("tokens")))),
			mql.Project(mql.E("now", 0), mql.E("isParent", 0)), mql.SortID(),
		},
	)
}

// projectParent returns the fields of a drift that come from the parent.
func (c *untypedCounter) projectParent() bson.D {
	numbers := bson.D{}
	for _, x := range c.slots {
		numbers = append(numbers, bson.E{Key: flattenPath(x.path), Value: "$" + x.path})
	}
	return bson.D{{Key: "stored", Value: numbers}, {Key: "tokens", Value: "$" + c.parents.StoreField().Tokens()}}
}

// compareNumbers returns the stages that make drifts of parents and of their children,
// which are at child.
func (c *untypedCounter) compareNumbers(more ...bson.E) (out mongo.Pipeline) {
	ofParent := func(name string) bson.E { return mql.E(name, mql.Op("$max", "$"+name)) } // children have none
	fields := append([]bson.E{ofParent("stored"), ofParent("tokens")}, more...)
	out = append(out, mql.Group("$_id", append(fields, c.accumulateSlots()...)...))
	counted, differs := bson.D{}, bson.A{}
	for i, x := range c.slots {
		counted = append(counted, bson.E{Key: flattenPath(x.path), Value: c.computeSlot(i)})
		differs = append(differs, c.compareSlot(i))
	}
	shown := bson.D{
		{Key: "stored", Value: 1}, {Key: "counted", Value: counted}, {Key: "differs", Value: mql.Op("$or", differs)},
		{Key: "tokens", Value: 1},
	}
	for _, e := range more {
		shown = append(shown, bson.E{Key: e.Key, Value: 1})
	}
	return append(out, mql.Project(shown...))
}

// lookupChildren looks up the children that count. It keeps the reference in them,
// because DocumentDB joins after the projection.
func (c *untypedCounter) lookupChildren() bson.D {
	inner := bson.A{mql.Project(commands.ProjectFields(c.listChildPaths()...)...)}
	if len(c.filter) > 0 {
		inner = append(bson.A{mql.Match(c.filter...)}, inner...)
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: c.docs.Name()}, {Key: "localField", Value: "_id"},
		{Key: "foreignField", Value: c.reference}, {Key: "pipeline", Value: inner}, {Key: "as", Value: "child"},
	}}}
}

// accumulateSlots computes the i-th slot as vi, and for sums the sum of absolute values
// as ai, which compareSlot needs.
func (c *untypedCounter) accumulateSlots() (out bson.D) {
	for i, x := range c.slots {
		path, name := "$child."+c.childPath(x), fmt.Sprint("v", i)
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

// childPath returns the path of a slot's value in a child, or "" for a slot that reads no
// value.
func (c *untypedCounter) childPath(x slot) string {
	if x.kind == countChildren || x.kind == quotient {
		return ""
	}
	return c.sources[x.source].path
}

// computeSlot returns the expression of the i-th slot as the children make it, after
// accumulateSlots.
func (c *untypedCounter) computeSlot(i int) any {
	if x := c.slots[i]; x.kind == quotient {
		sum, n := fmt.Sprint("$v", x.sum), fmt.Sprint("$v", x.n)
		return mql.Cond(mql.Op("$gt", n, 0), mql.Op("$divide", sum, n), nil)
	}
	return fmt.Sprint("$v", i)
}

// compareSlot returns the expression that the i-th slot isn't what the children make.
// Sums of floats must differ by more than 1e-9 of the sum of absolute values, because the
// order of adding changes how they are rounded.
func (c *untypedCounter) compareSlot(i int) bson.D {
	x, made := c.slots[i], c.computeSlot(i)
	stored := "$stored." + flattenPath(x.path)
	if x.isExtreme() {
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

// listChecks returns the check of the numbers, and the check of the references.
func (c *untypedCounter) listChecks() []model.Check {
	check := model.Check{
		Name: fmt.Sprintf("%s.%s: numbers that differ from the documents of %s", c.parents.Name(), c.joinSlotPaths(),
			c.docs.Name()), Collection: c.parents.Name(),
		Rule:     fmt.Sprintf("the numbers of each document agree with its children in %s", c.docs.Name()),
		Pipeline: c.countAllParents(),
		InTransaction: slices.Concat(
			c.countEachParent(), mongo.Pipeline{mql.Match(mql.E("differs", true))},
			stored.SkipUnfinished(c.docs), mongo.Pipeline{mql.SortID()}),
		Tell: found.DescribeRows(drift.describeFinding),
	}
	check.Mend = found.MendRows(check.Name, c.parents.Name(), c.planRepair)
	return []model.Check{check, c.checkReferences()}
}

// joinSlotPaths returns the parents' paths, for the names of checks: two Counters of one
// collection must differ by name.
func (c *untypedCounter) joinSlotPaths() string {
	var paths []string
	for _, x := range c.slots {
		paths = append(paths, x.path)
	}
	return strings.Join(paths, ", ")
}

// checkReferences finds the children that name a missing parent. Only a person can decide
// about them.
func (c *untypedCounter) checkReferences() model.Check {
	return model.Check{
		Name: fmt.Sprintf("%s.%s: ids that no document of %s has, for its %s", c.docs.Name(), c.reference,
			c.parents.Name(), c.joinSlotPaths()), Collection: c.docs.Name(),
		Rule: fmt.Sprintf("each id of %s.%s is the _id of a document of %s", c.docs.Name(),
			c.reference, c.parents.Name()),
		Pipeline: mongo.Pipeline{
			mql.Match(mql.E(c.reference, bson.D{{Key: "$ne", Value: nil}})),
			mql.Project(mql.E("parent", "$"+c.reference)),
			mql.Lookup(c.parents.Name(), "parent", "_id", "known", mql.E("_id", 1)),
			mql.Match(mql.E("known", mql.Op("$size", 0))), mql.Project(mql.E("parent", 1)), mql.SortID(),
		},
		Tell: func(f *model.Finding) error {
			f.ID = f.Detail.Lookup("_id")
			f.Problem = c.reference + " → " + model.Shell(f.Detail.Lookup("parent")) + ", which doesn't exist"
			return nil
		},
	}
}

// recountParent counts the children of one parent, and writes the numbers that differ. A
// parent that changed since the read gives model.ErrStale, and the change reads again.
func (c *untypedCounter) recountParent(parent any) model.ChangeOf[model.Finding] {
	id, err := c.parents.ByID(parent)
	if err != nil {
		return commands.RefuseChangeOf[model.Finding](c.parents.Name(), err)
	}
	check := c.listChecks()[0]
	return model.ChangeOf[model.Finding]{
		Name: "counter " + c.docs.Name(),
		Read: func(ctx context.Context, db model.DB) (f model.Finding, err error) {
			f.Check, f.Collection = check.Name, c.parents.Name()
			f.Detail, err = (&model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
				Collection: c.parents.Name(), Pipeline: c.countEachParent(mql.Match(id...)), Index: model.IDIndex,
			}}).One(ctx, db)
			if err == nil {
				err = check.Tell(&f)
			}
			if err != nil || f.Problem == "" {
				return f, err
			}
			return f, c.refuseActions(ctx, db, f)
		},
		Decide: func(f model.Finding) (model.Plan, error) {
			var d drift
			if err := bson.Unmarshal(f.Detail, &d); err != nil {
				return model.Plan{}, err
			}
			if !d.Differs {
				return model.Plan{}, nil
			}
			w := c.mendParent(d)
			w.Expect = model.One
			return model.NewPlan(w), nil
		},
	}
}

// refuseActions returns an error if the counted parent doesn't know an unfinished action
// yet: see [stored.SkipUnfinished].
func (c *untypedCounter) refuseActions(ctx context.Context, db model.DB, f model.Finding) error {
	field := c.docs.StoreField()
	children, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: c.docs.Name(), Filter: bson.D{{Key: field.Action() + ".to", Value: mql.Eq(f.ID)}},
		Projection: bson.D{{Key: field.Action() + ".id", Value: 1}}, Deleted: true,
	}}).All(ctx, db)
	known := core.Elements(f.Detail.Lookup("tokens"))
	for _, child := range children {
		if action, _ := field.ActionIn(child); !stored.Contains(known, action.Lookup("id")) {
			return fmt.Errorf("%w (%s %s: an action on the child %s is unfinished: repeat the action, or run the "+
				"repair of the model's audit)",
				model.ErrStale, c.parents.Name(), model.Shell(f.ID), model.Shell(child.Lookup("_id")))
		}
	}
	return err
}

// mendParent is the write that gives a parent the numbers that its children make. It
// requires that no action has changed the parent since it was read: an action outside
// transactions changes the tokens, and one in a transaction the numbers.
func (c *untypedCounter) mendParent(d drift) model.Write {
	filter := append(commands.MatchID(d.ID), stored.MatchValueAt(c.parents.StoreField().Tokens(), d.Tokens))
	var set, unset bson.D
	for _, x := range c.slots {
		v, err := d.Counted.LookupErr(flattenPath(x.path))
		switch {
		case err != nil:
			return model.Refused(c.parents.Name(),
				c.parents.Refuse(x.path, nil, "is missing from the finding: pass the findings unchanged"))
		case v.Type == bson.TypeNull:
			unset = append(unset, bson.E{Key: x.path, Value: ""})
		case v.Type == bson.TypeInt32 && !x.isExtreme():
			set = append(set, bson.E{Key: x.path, Value: int64(v.Int32())})
		default:
			set = append(set, bson.E{Key: x.path, Value: v})
		}
		held, _ := d.Stored.LookupErr(flattenPath(x.path))
		filter = append(filter, stored.MatchValueAt(x.path, held))
	}
	w := commands.UpdateIf(c.parents.Name(), filter, commands.JoinOperators(mql.E("$set", set), mql.E("$unset", unset)))
	w.Deleted = true
	return w
}

// planRepair writes the numbers of the findings' parents. It refuses findings that the check
// didn't return.
func (c *untypedCounter) planRepair(rows []drift) model.Plan {
	mend := func(i int, d drift) (w model.Write) {
		switch {
		case !stored.IsKey(d.ID):
			return found.RefuseFinding(c.parents.Name(), i, "_id")
		case !d.Differs:
			return w
		}
		return c.mendParent(d)
	}
	return found.PlanWrites(rows, "some parents counted; the next check finds the others", mend)
}
