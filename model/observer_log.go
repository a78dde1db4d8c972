package model

import (
	"context"
	"log/slog"
	"slices"
)

// LogTo returns an observer that logs each ended [Operation]. A nil logger means
// slog.Default. The first line that fits gives the level:
//
//   - Debug: a nested operation
//   - Warn: Stale, TakenBack, Failure "left", or a change that succeeded after a retry
//   - Info: success, or Failure "not found", "full" or "taken"
//   - Error: any other Failure
func LogTo(l *slog.Logger) Observer {
	if l == nil {
		l = slog.Default()
	}
	return Observer{End: func(ctx context.Context, o Operation) {
		if level := o.level(); l.Enabled(ctx, level) {
			l.LogAttrs(ctx, level, "docmodel "+o.Kind, o.attrs()...)
		}
	}}
}

// level returns the log level of an operation.
func (o Operation) level() slog.Level {
	switch {
	case o.Parent != 0:
		return slog.LevelDebug
	case o.Stale || o.TakenBack || o.Failure == "left" || o.Kind == "change" && o.Attempt > 1 && o.Failure == "":
		return slog.LevelWarn
	case slices.Contains([]string{"", "not found", "full", "taken"}, o.Failure):
		return slog.LevelInfo
	}
	return slog.LevelError
}

// attrs returns the non-empty attributes of a log line.
func (o Operation) attrs() []slog.Attr {
	attrs := make([]slog.Attr, 0, 20)
	text := func(key, v string) {
		if v != "" {
			attrs = append(attrs, slog.String(key, v))
		}
	}
	number := func(key string, v int64) {
		if v != 0 {
			attrs = append(attrs, slog.Int64(key, v))
		}
	}
	flag := func(key string, v bool) {
		if v {
			attrs = append(attrs, slog.Bool(key, true))
		}
	}
	number("id", int64(o.ID))
	number("parent", int64(o.Parent))
	text("name", o.Name)
	text("caller", o.Caller)
	text("collection", o.Collection)
	number("attempt", int64(o.Attempt))
	text("failure", o.Failure)
	number("code", int64(o.Code))
	text("index", o.Index)
	flag("stale", o.Stale)
	flag("already", o.Already)
	flag("takenBack", o.TakenBack)
	attrs = append(attrs, slog.Int("commands", o.Actual.Commands))
	number("written", int64(o.Actual.Written))
	number("modified", o.Modified)
	number("returned", int64(o.Actual.Returned))
	if o.Declared.Commands > 0 {
		attrs = append(attrs, slog.String("declared", o.Declared.String()))
	}
	return append(attrs, slog.Duration("took", o.Took))
}
