package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// notADatabase has a database's methods, and nothing to run on.
type notADatabase struct{}

func (notADatabase) Name() string { return "x" }

func (notADatabase) Client() *mongo.Client { return nil }

// TestScopeRefused: a scope that can't hold, and what can't run under a scope under a scope, is refused before anything
// is sent.
func TestScopeRefused(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	monitor := mongotest.NewMonitor()
	bare := mongotest.NewClient(t, monitor).Database("test")
	docs := model.NewCollection[bson.D, int32]("parts")
	ctx := t.Context()
	find := func(db model.DB) error { _, err := docs.Find(nil).All(ctx, db); return err }
	for _, c := range []struct {
		scope model.Scope
		field string
	}{
		{model.Scope{Tenant: d("tenant", "")}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("tenant", nil)}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("tenant", bson.NilObjectID)}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("tenant", d("$in", bson.A{"a"}))}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("of.tenant", "a")}, "Scope.Tenant.of.tenant"},
		{model.Scope{Tenant: d("$where", "a")}, "Scope.Tenant.$where"},
		{model.Scope{Tenant: d("_id", "a")}, "Scope.Tenant._id"},
		{model.Scope{Tenant: d("tenant", "a", "tenant", "b")}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("tenant", "a"), Insert: d("tenant", "b")}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("tenant", "a"), Set: d("tenant", "a")}, "Scope.Tenant.tenant"},
		{model.Scope{Tenant: d("tenant", "a"), Delete: d("tenant", "")}, "Scope.Tenant.tenant"},
		{model.Scope{Set: d("a.b", 1)}, "Scope.Set.a.b"},
		{model.Scope{Insert: d("", 1)}, "Scope.Insert."},
		{model.Scope{Delete: d("gone", nil)}, "Scope.Delete.gone"},
		{model.Scope{Delete: d("gone", 1), Set: d("gone", 1)}, "Scope.Delete.gone"},
		{model.Scope{Filter: d("x", make(chan int))}, "Scope.Filter"},
		{model.Scope{Set: d("x", func() {})}, "Scope.Set"},
		{model.Scope{Set: d("x", math.Inf)}, "Scope.Set"},
	} {
		var bad *model.ValueError
		if err := find(c.scope.On(bare)); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%+v: %v, want that %s is refused", c.scope, err, c.field)
		}
		if err := c.scope.Plan(model.NewPlan(docs.Delete(1))).Err(); !errors.As(err, &bad) {
			t.Errorf("a plan under %+v: %v", c.scope, err)
		}
		if err := find(model.Scope{}.On(c.scope.On(bare))); !errors.As(err, &bad) {
			t.Errorf("a scope within %+v: %v", c.scope, err)
		}
	}
	for _, db := range []model.DB{
		nil, (*mongo.Database)(nil), notADatabase{}, model.Scope{}.On(nil), model.Scope{}.On((*mongo.Database)(nil)),
		model.Scope{}.On(notADatabase{}),
	} {
		var bad *model.ValueError
		if err := find(db); !errors.As(err, &bad) || bad.Field != "db" {
			t.Errorf("%T: %v", db, err)
		}
	}

	a := tenantOf("a").On(bare)
	into := func(stage bson.D) model.Plan {
		return model.NewPlan(model.MergeInto{Collection: "parts", Idempotent: true, Pipeline: mongo.Pipeline{stage}})
	}
	tenantOnly := model.Scope{Tenant: d("tenant", "a")}.On(bare)
	code := d("$function", d("body", "function() {}", "args", bson.A{}, "lang", "js"))
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"another tenant's scope":       {find(tenantOf("b").On(a)), "already under another tenant's scope"},
		"a scope that sets the tenant": {find(model.Scope{Set: d("tenant", "b")}.On(a)), "name it in Tenant only"},
		"a scope that gives a tenant":  {find(model.Scope{Insert: d("tenant", "b")}.On(a)), "name it in Tenant only"},
		"a scope that marks a tenant":  {find(model.Scope{Delete: d("tenant", "b")}.On(a)), "name it in Tenant only"},
		"a tenant under what sets it": {
			err:  find(tenantOf("a").On(model.Scope{Set: d("tenant", "b")}.On(bare))),
			want: "name it in Tenant only",
		},
		"a tenant under what gives it": {
			err:  find(tenantOf("a").On(model.Scope{Insert: d("tenant", "b")}.On(bare))),
			want: "name it in Tenant only",
		},
		"a tenant under what marks it": {
			err:  find(tenantOf("a").On(model.Scope{Delete: d("tenant", "b")}.On(bare))),
			want: "name it in Tenant only",
		},
		"two scopes further in": {
			err:  find(model.Scope{Set: d("tenant", "b")}.On(model.Scope{Set: d("x", 1)}.On(a))),
			want: "name it in Tenant only",
		},
		"a filter of another": {second(docs.Find(d("tenant", "b")).All(ctx, a)), "gives the tenant's field"},
		"a list of tenants": {
			err:  second(docs.Find(d("tenant", d("$in", bson.A{"a", "b"}))).All(ctx, a)),
			want: "gives the tenant's field",
		},
		"a part of the tenant": {second(docs.Find(d("tenant.x", "a")).All(ctx, a)), "gives the tenant's field"},
		"a filter of another in $or": {
			err:  second(docs.Find(d("$or", bson.A{d("x", 1), d("$and", bson.A{d("tenant", "b")})})).All(ctx, a)),
			want: "gives the tenant's field",
		},
		"a count of another's": {second(docs.Find(d("tenant", "b")).Count(ctx, a)), "gives the tenant's field"},
		"an update of another's": {
			err:  second(updateMany(d("tenant", "b"), d("$set", d("x", 1))).Run(ctx, a)),
			want: "gives the tenant's field",
		},
		"a findAndModify": {
			err:  second(docs.Modify(d("tenant", "b"), d("$set", d("x", 1))).Run(ctx, a)),
			want: "gives the tenant's field",
		},
		"a $match of another": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$match", d("tenant", "b"))}).All(ctx, a)),
			want: "gives the tenant's field",
		},
		"a joined $match of another": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$lookup", d("from", "x", "as", "y", "pipeline", mongo.Pipeline{d("$match", d("tenant", "b"))})),
			}).All(ctx, a)),
			want: "gives the tenant's field",
		},
		"a move to another": {
			err:  second(docs.Update(1, d("$set", d("tenant", "b"))).Run(ctx, a)),
			want: "the scope gives this field its value",
		},
		"$where": {
			err:  second(docs.Find(d("$where", "true")).All(ctx, a)),
			want: "$where can't run under a scope",
		},
		"$where in $or": {
			err:  second(docs.Find(d("$or", bson.A{d("$where", "true")})).All(ctx, a)),
			want: "$where can't run under a scope",
		},
		"$function": {
			err:  second(docs.Find(d("$expr", d("$eq", bson.A{1, code}))).All(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function in a pipeline": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$limit", 1), d("$set", d("x", code))}).All(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function within a facet": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$facet", d("f", bson.A{d("$set", d("x", code))}))}).All(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$accumulator": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$group", d("_id", nil, "x", d("$accumulator", d())))}).All(ctx, a)),
			want: "$accumulator can't run under a scope",
		},
		"$documents": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$documents", bson.A{d("x", 1)})}).All(ctx, a)),
			want: "must be first",
		},
		"$documents in a union": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$unionWith", d("pipeline", bson.A{d("$documents", bson.A{})})),
			}).All(ctx, a)),
			want: "must be first",
		},
		"$indexStats": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$indexStats", d())}).All(ctx, a)),
			want: "must be first",
		},
		"a stage nobody knows": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$limit", 1), d("$peek", d())}).All(ctx, a)),
			want: "$peek can't run under a scope",
		},
		"$function in a joined let": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$lookup", d("from", "x", "as", "y", "let", d("z", code))),
			}).All(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function to start with": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$graphLookup", d("from", "x", "as", "y", "startWith", code)),
			}).All(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$where on a graph": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$graphLookup", d("from", "x", "as", "y", "restrictSearchWithMatch", d("$where", "true"))),
			}).All(ctx, a)),
			want: "$where can't run under a scope",
		},
		"$function in a projection": {
			err:  second(projected(docs, d("x", code)).All(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function in a returned document": {
			err:  second(modified(docs, nil, d("x", code)).Run(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function in a variable": {
			err:  second(modified(docs, d("x", code), nil).Run(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function in an update": {
			err:  second(once(updateMany(d("_id", 1), mongo.Pipeline{d("$set", d("x", code))})).Run(ctx, a)),
			want: "$function can't run under a scope",
		},
		"$function in a $merge": {
			err: second(into(d("$merge",
				d("into", "y", "on", bson.A{"_id", "tenant"}, "whenMatched",
					bson.A{d("$set", d("x", code))}))).Run(ctx, tenantOnly)),
			want: "$function can't run under a scope",
		},
		"two pipelines in a $lookup": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$lookup", d("from", "x", "as", "y", "pipeline", bson.A{}, "pipeline", bson.A{})),
			}).All(ctx, a)),
			want: "pipeline is given twice",
		},
		"two pipelines in a union": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$unionWith", d("coll", "x", "pipeline", bson.A{}, "pipeline", bson.A{})),
			}).All(ctx, a)),
			want: "pipeline is given twice",
		},
		"two conditions on a graph": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$graphLookup",
					d("from", "x", "as", "y", "restrictSearchWithMatch", d("x", 1), "restrictSearchWithMatch", d("x", 1))),
			}).All(ctx, a)),
			want: "restrictSearchWithMatch is given twice",
		},
		"two targets of a $merge": {
			err: second(into(d("$merge",
				d("into", "y", "whenMatched", "fail", "into", d("db", "x", "coll", "y")))).Run(ctx, a)),
			want: "into is given twice",
		},
		"a $merge into what is marked": {
			err:  second(into(d("$merge", d("into", "y", "on", bson.A{"_id", "tenant"}))).Run(ctx, a)),
			want: "it could overwrite documents that the filter hides",
		},
		"another database's $merge": {
			err:  second(into(d("$merge", d("into", d("db", "x", "coll", "y"), "whenMatched", "fail"))).Run(ctx, a)),
			want: "into another database",
		},
		"another database's $out": {second(into(d("$out", d("db", "x", "coll", "y"))).Run(ctx, a)), "into another database"},
		"$out": {
			err:  second(into(d("$out", "y")).Run(ctx, a)),
			want: "it could overwrite documents that the filter hides",
		},
		"$collStats": {
			err:  second(docs.Aggregate(mongo.Pipeline{d("$collStats", d("count", d()))}).All(ctx, a)),
			want: "must be first",
		},
		"$collStats in a join": {
			err: second(docs.Aggregate(mongo.Pipeline{
				d("$lookup", d("from", "x", "as", "y", "pipeline", mongo.Pipeline{d("$collStats", d("count", d()))})),
			}).All(ctx, a)),
			want: "must be first",
		},
	} {
		var conflict *model.ConflictError
		if !errors.As(c.err, &conflict) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, c.err, c.want)
		}
	}
	if n := monitor.Cost().Commands; n != 0 {
		t.Errorf("%d commands were sent", n)
	}
	literal := mongo.Pipeline{d("$set", d("x", d("$literal", code)))}
	if _, err := once(updateMany(d("_id", 1), literal)).Run(ctx, a); err != nil {
		t.Errorf("code as data: %v", err)
	}
	for _, own := range []bson.D{
		d("tenant", "a"), d("tenant", d("$eq", "a")), d("$and", bson.A{d("tenant", "a"), d("x", 1)}),
	} {
		if found, err := docs.Find(own).All(ctx, a); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", model.Shell(own), found, err)
		}
	}
}

// projected is a query of all documents with a projection.
func projected(docs *model.Collection[bson.D, int32], projection bson.D) *model.Find[bson.D] {
	f := docs.Find(nil)
	f.Projection = projection
	return f
}

// modified is a findAndModify with variables and a projection.
func modified(docs *model.Collection[bson.D, int32], let, projection bson.D) *model.Modify[bson.D] {
	m := docs.Modify(d("_id", 1), d("$set", d("x", 1)))
	m.Options.Let, m.Projection = let, projection
	return m
}
