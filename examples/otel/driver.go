package main

import (
	"context"
	"sync"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel/trace"
)

// instrument makes a span of each command that belongs to a trace. In production use the
// monitor of
// go.opentelemetry.io/contrib/instrumentation/go.mongodb.org/mongo-driver/v2/mongo/otelmongo
// instead.
func instrument(tracer trace.Tracer) *options.ClientOptions {
	var running sync.Map // spans by request
	end := func(request int64) {
		if span, ok := running.LoadAndDelete(request); ok {
			span.(trace.Span).End()
		}
	}
	return options.Client().SetMonitor(&event.CommandMonitor{
		Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			if trace.SpanContextFromContext(ctx).IsValid() {
				_, span := tracer.Start(ctx, "mongodb "+e.CommandName, trace.WithSpanKind(trace.SpanKindClient))
				running.Store(e.RequestID, span)
			}
		},
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { end(e.RequestID) },
		Failed:    func(_ context.Context, e *event.CommandFailedEvent) { end(e.RequestID) },
	})
}
