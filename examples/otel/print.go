package main

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// tree prints a trace: each span below its parent, in the order of their start.
func tree(spans tracetest.SpanStubs) string {
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var b strings.Builder
	var below func(parent trace.SpanID, depth int)
	below = func(parent trace.SpanID, depth int) {
		for _, s := range spans {
			if s.Parent.SpanID() == parent {
				fmt.Fprintln(&b, strings.Repeat("  ", depth)+s.Name+told(s.Attributes))
				below(s.SpanContext.SpanID(), depth+1)
			}
		}
	}
	below(trace.SpanID{}, 0)
	return b.String()
}

// told prints attributes.
func told(list []attribute.KeyValue) (s string) {
	for _, a := range list {
		switch name := strings.TrimPrefix(string(a.Key), "docmodel."); name {
		case "commands", "attempt", "error.type":
			s += fmt.Sprintf(" %s=%s", name, a.Value.Emit())
		}
	}
	return s
}
