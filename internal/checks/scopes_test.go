package checks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// mine is a tenant's scope, with soft deletion and a time of change.
var mine = model.Scope{
	Tenant: bson.D{{Key: "tenant", Value: "mine"}},
	Set:    bson.D{{Key: "updatedAt", Value: int64(7)}},
	Delete: bson.D{{Key: "deletedAt", Value: int64(7)}},
}

// A scope changes nothing of what a plan promises.
func TestScopeKeepsGuarantees(t *testing.T) {
	for _, c := range registered {
		for _, p := range c.plans(c.value(harmless)) {
			under := mine.Plan(p)
			if p.Err() != nil || under.Err() != nil {
				continue
			}
			if p.Guarantee() != under.Guarantee() || p.Repeatable() != under.Repeatable() {
				t.Errorf("%s: %v becomes %v under a scope:\n%s", c.name(), p.Guarantee(), under.Guarantee(), under)
			}
		}
	}
}

// plans are the plans of a value, those that it decides on for its State among them.
func (c Case) plans(v any) []model.Plan {
	switch v := v.(type) {
	case model.Plan:
		return []model.Plan{v}
	case model.Write:
		return []model.Plan{model.NewPlan(v)}
	case model.MergeInto:
		return []model.Plan{model.NewPlan(v)}
	}
	if c.State == nil || errorOf(v) != nil {
		return nil
	}
	var p model.Plan
	var err error
	if job, ok := v.(model.Job); ok {
		p, err = c.planned(job.Stages[0], harmless)
	} else if decides(v) {
		p, err = c.decided(v, harmless)
	}
	if err != nil {
		return nil
	}
	return []model.Plan{p}
}

// Everything that runs on a database under a scope sends scoped commands alone, or is refused, and decides from no read
// of a secondary.
func TestScopeHoldsForCommands(t *testing.T) {
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor,
		mongotest.Settings{Client: options.Client().SetReadPreference(readpref.SecondaryPreferred())})
	ran, refused := 0, map[string]bool{}
	for i, c := range registered {
		db := mine.On(client.Database(fmt.Sprintf("case%d", i)))
		v := c.value(harmless)
		runs := []any{v}
		for _, p := range c.plans(v) {
			runs = append(runs, p)
		}
		for _, v := range runs {
			monitor.Reset()
			err, decides := runValue(t.Context(), db, v)
			var conflict *model.ConflictError
			if errors.As(err, &conflict) {
				refused[c.Method] = true
			}
			for _, cmd := range monitor.Commands() {
				ran++
				if problem := unscoped(cmd); problem != "" && cmd.Name != "listCollections" {
					t.Errorf("%s: %s in\n%s", c.name(), problem, cmd)
				}
				if mode, _ := cmd.Body.Lookup("$readPreference", "mode").StringValueOK(); decides &&
					strings.HasPrefix(mode, "secondary") {
					t.Errorf("%s: decides from a secondary's answer to\n%s", c.name(), cmd)
				}
			}
		}
	}
	if ran < 1000 {
		t.Errorf("only %d commands were sent", ran)
	}
	var list []string
	for m := range refused {
		list = append(list, m)
	}
	slices.Sort(list)
	t.Logf("%d commands; refused under a scope's filter: %s", ran, strings.Join(list, ", "))
}

// runValue runs a value of the model's types, and says whether its reads decide what it writes.
func runValue(ctx context.Context, db model.DB, v any) (err error, decides bool) {
	if p, ok := v.(model.Plan); ok && p.Guarantee() == model.Transactional {
		_, err := p.RunTx(ctx, db)
		return err, true
	}
	r := reflect.ValueOf(v)
	args := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(db)}
	switch v.(type) {
	case model.Write, model.Plan, model.MergeInto:
		decides = true
	case model.Job:
		decides = true
		args = append(args, reflect.ValueOf(model.JobOptions{}))
	case model.Stream, mongo.Pipeline, bson.D:
		return nil, false
	}
	if !r.IsValid() {
		return nil, false
	}
	run := r.MethodByName("All")
	if !run.IsValid() {
		run = r.MethodByName("Run")
		decides = true
	}
	if !run.IsValid() || run.Type().NumIn() != len(args) {
		return nil, false
	}
	out := run.Call(args)
	err, _ = out[len(out)-1].Interface().(error)
	return err, decides
}

// unscoped says what of a command reaches beyond the tenant, or "".
func unscoped(c mongotest.Command) string {
	get := func(key string) bson.RawValue { return c.Body.Lookup(key) }
	if keepsForItself(c.Collection) {
		return ""
	}
	switch c.Name {
	case "find", "count", "distinct":
		if !asksTenant(get(pick(c.Name == "find", "filter", "query"))) {
			return "a read without the tenant"
		}
	case "findAndModify":
		if !asksTenant(get("query")) {
			return "a findAndModify without the tenant"
		}
	case "aggregate":
		return unscopedPipeline(get("pipeline"), true)
	case "insert":
		return each(get("documents"), func(doc bson.Raw) string {
			if doc.Lookup("tenant").String() != `"mine"` {
				return "a document without the tenant"
			}
			return ""
		})
	case "update":
		return each(get("updates"), func(u bson.Raw) string {
			if !asksTenant(u.Lookup("q")) {
				return "an update without the tenant"
			}
			return ""
		})
	case "delete":
		return each(get("deletes"), func(d bson.Raw) string {
			if !asksTenant(d.Lookup("q")) {
				return "a delete without the tenant"
			}
			return ""
		})
	case "bulkWrite":
		return each(get("ops"), func(op bson.Raw) string {
			if doc, inserts := op.Lookup("document").DocumentOK(); inserts {
				if doc.Lookup("tenant").String() != `"mine"` {
					return "a document without the tenant"
				}
			} else if !asksTenant(op.Lookup("filter")) {
				return "a statement without the tenant"
			}
			return ""
		})
	case "hello", "getMore", "killCursors", "commitTransaction", "abortTransaction":
	default:
		return "an unexpected command"
	}
	return ""
}

func pick(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

// keepsForItself reports whether the collection holds locks or checkpoints: names of what is locked or runs, and no
// data.
func keepsForItself(collection string) bool {
	return strings.HasSuffix(collection, "locks") || collection == "jobs" || collection == "docmodel.relays"
}

func each(list bson.RawValue, problem func(bson.Raw) string) string {
	arr, ok := list.ArrayOK()
	if !ok {
		return "" // cut by the monitor
	}
	values, _ := arr.Values()
	for _, v := range values {
		if doc, ok := v.DocumentOK(); ok {
			if p := problem(doc); p != "" {
				return p
			}
		}
	}
	return ""
}

// asksTenant reports whether a filter asks for the tenant, itself or in its $and.
func asksTenant(v bson.RawValue) bool {
	doc, ok := v.DocumentOK()
	if !ok {
		return false
	}
	if doc.Lookup("tenant").String() == `"mine"` {
		return true
	}
	arr, ok := doc.Lookup("$and").ArrayOK()
	if !ok {
		return false
	}
	values, _ := arr.Values()
	return slices.ContainsFunc(values, asksTenant)
}

func unscopedPipeline(v bson.RawValue, reads bool) string {
	arr, ok := v.ArrayOK()
	if !ok {
		return "a pipeline that is no list"
	}
	stages, _ := arr.Values()
	if reads && (len(stages) == 0 || !asksTenant(stages[0].Document().Lookup("$match"))) {
		return "a pipeline that doesn't begin with the tenant"
	}
	return each(v, func(stage bson.Raw) string {
		elem, err := stage.IndexErr(0)
		if err != nil {
			return ""
		}
		args, _ := elem.Value().DocumentOK()
		switch elem.Key() {
		case "$lookup", "$unionWith":
			from, _ := args.Lookup(pick(elem.Key() == "$lookup", "from", "coll")).StringValueOK()
			if keepsForItself(from) {
				return ""
			}
			return unscopedPipeline(args.Lookup("pipeline"), true)
		case "$graphLookup":
			if !asksTenant(args.Lookup("restrictSearchWithMatch")) {
				return "a $graphLookup without the tenant"
			}
		case "$facet":
			elems, _ := args.Elements()
			for _, e := range elems {
				if p := unscopedPipeline(e.Value(), false); p != "" {
					return p
				}
			}
		case "$merge", "$out":
			return "a " + elem.Key()
		}
		return ""
	})
}
