package model

import (
	"context"
	"log/slog"
)

// LogTo returns an observer that logs each operation when it has ended, with the context of the operation. An operation that failed is
// an Error. One that met another writer (stale, taken back, or a change of several attempts) is a Warn, and so is a job that left
// documents. Others are an Info, or a Debug if they ran in another operation. That a document isn't there is no failure here, and a
// batch or an attempt that failed is told by what it ran in.
func LogTo(l *slog.Logger) Observer {
	return Observer{End: func(ctx context.Context, o Operation) {
		if level := o.level(); l.Enabled(ctx, level) {
			l.LogAttrs(ctx, level, "docmodel "+o.Kind, o.attrs()...)
		}
	}}
}

// level is how much attention an operation asks for.
func (o Operation) level() slog.Level {
	switch {
	case o.Stale || o.TakenBack || o.Failure == "left" || o.Kind == "change" && o.Attempt > 1 && o.Failure == "":
		return slog.LevelWarn
	case o.Failure != "" && o.Failure != "not found" && o.Parent == 0:
		return slog.LevelError
	case o.Parent != 0:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// attrs are what an event says, without what is empty.
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
