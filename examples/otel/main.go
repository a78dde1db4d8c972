// Otel makes a span of each database operation. A trace then shows which operation sent a
// command, and that it ran twice because of a conflict. Spans of commands, from the
// driver's instrumentation, are children of the operations' spans.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// Observer returns an observer that makes a span of each operation.
func Observer(tracer trace.Tracer) model.Observer {
	return model.Observer{
		Start: func(ctx context.Context, o model.Operation) context.Context {
			ctx, _ = tracer.Start(ctx, title(o), trace.WithTimestamp(o.Began), trace.WithAttributes(before(o)...))
			return ctx
		},
		End: func(ctx context.Context, o model.Operation) {
			span := trace.SpanFromContext(ctx)
			span.SetAttributes(after(o)...)
			switch o.Failure {
			case "", "stale", "not found", "full", "taken": // answers, not failures
			default:
				span.SetStatus(codes.Error, o.Failure)
			}
			span.End(trace.WithTimestamp(o.Began.Add(o.Took)))
		},
	}
}

// title returns a span's name. It contains no values, so that there are few names.
func title(o model.Operation) string {
	switch {
	case o.Name != "":
		return o.Kind + " " + o.Name
	case o.Collection != "":
		return o.Kind + " " + o.Collection
	}
	return o.Kind
}

// before returns the attributes known when an operation begins, for samplers.
func before(o model.Operation) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("db.system.name", "mongodb"), attribute.String("docmodel.kind", o.Kind)}
	if o.Collection != "" {
		list = append(list, attribute.String("db.collection.name", o.Collection))
	}
	if o.Caller != "" {
		list = append(list, attribute.String("code.function.name", o.Caller))
	}
	return list
}

// after returns the attributes of an operation that ended.
func after(o model.Operation) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.Int("docmodel.commands", o.Actual.Commands),
		attribute.Int("docmodel.written", o.Actual.Written),
		attribute.Int("docmodel.returned", o.Actual.Returned),
	}
	if o.Attempt > 0 {
		list = append(list, attribute.Int("docmodel.attempt", o.Attempt))
	}
	if o.TakenBack {
		list = append(list, attribute.Bool("docmodel.taken_back", true))
	}
	if o.Failure != "" {
		list = append(list, attribute.String("error.type", o.Failure))
	}
	return list
}

type account struct {
	ID      string `bson:"_id"`
	Balance int    `bson:"balance"`
}

var accounts = model.NewCollection[account, string]("accounts")

// pay takes an amount from an account.
func pay(id string, amount int) model.ChangeOf[account] {
	return model.ChangeOf[account]{
		Name: "pay",
		Read: func(ctx context.Context, db model.DB) (account, error) { return accounts.ByID(id).One(ctx, db) },
		Decide: func(a account) (model.Plan, error) {
			return model.NewPlan(model.Write{Collection: "accounts", Expect: model.One, Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: id}, {Key: "balance", Value: a.Balance}},
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: "balance", Value: a.Balance - amount}}}},
			}}), nil
		},
	}
}

func main() {
	spans := tracetest.NewInMemoryExporter() // in production an exporter that sends: otlptracegrpc.New
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("docmodel")
	// An engine in this process. mongo.Connect reaches a server.
	client, stop := mongotest.Start(mongotest.Settings{Client: instrument(tracer)})
	defer stop()
	ctx, database := context.Background(), client.Database("bank")
	if _, err := accounts.Insert(account{"ann", 100}).Run(ctx, database); err != nil {
		log.Fatal(err)
	}

	payment := pay("ann", 30)
	read, met := payment.Read, false
	payment.Read = func(inner context.Context, db model.DB) (account, error) {
		a, err := read(inner, db)
		if !met { // another payment comes first
			met = true
			_, _, err = pay("ann", 20).Run(ctx, database)
		}
		return a, err
	}
	if _, _, err := payment.Run(ctx, Observer(tracer).On(database)); err != nil {
		log.Fatal(err)
	}
	fmt.Print(tree(spans.GetSpans()))
}
