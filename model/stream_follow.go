package model

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
)

// watch opens the change stream after a token, or at the current time.
func (r *streamRun) watch(ctx context.Context, after bson.Raw) (*mongo.ChangeStream, error) {
	o := options.ChangeStream().SetMaxAwaitTime(r.options.Wait)
	if !r.stream.Bare {
		o.SetFullDocument(options.UpdateLookup)
	}
	if after != nil {
		o.SetStartAfter(after)
	} else {
		// The first batch must be empty. The driver returns the server's token only for
		// an empty batch, and a change may be made before the first batch is filled.
		o.SetBatchSize(0)
	}
	stages := r.stream.stages()
	if stages == nil {
		stages = mongo.Pipeline{}
	}
	return collectionOf(ctx, r.db, nil, r.stream.Collection).Watch(ctx, stages, o)
}

// follow passes the events of the change stream to the pool until the context ends.
func (r *streamRun) follow(ctx context.Context) error {
	token, n := r.pool.done()
	r.since += n
	if token == nil {
		token = bytes.Clone(r.place.Token)
	}
	cs, err := r.watch(ctx, token)
	if unsupported(err) {
		return fmt.Errorf("%w: %w", ErrNoChangeStreams, err)
	}
	if err != nil {
		return err
	}
	defer closeStream(ctx, cs)
	r.mode = Following
	r.pool.idle(token)
	for tries := 0; ; tries++ {
		got := cs.TryNext(ctx)
		if err := cs.Err(); err != nil {
			return err
		}
		if got {
			if err := r.take(ctx, cs); err != nil {
				return err
			}
		}
		r.pool.idle(bytes.Clone(cs.ResumeToken()))
		if got && cs.RemainingBatchLength() > 0 {
			if err := r.store(ctx, false, false); err != nil {
				return err
			}
			continue
		}
		if cs.ID() == 0 {
			if err := r.settle(ctx, cs); err != nil {
				return err
			}
			return ErrSourceGone
		}
		// The first look at a new stream shows only events that came with its opening.
		if !got && r.options.Once && tries > 0 && r.caughtUp(cs.ResumeToken()) {
			return r.settle(ctx, cs)
		}
		if err := r.store(ctx, !got, false); err != nil {
			return err
		}
		if !got {
			if err := r.report(); err != nil {
				return err
			}
		}
	}
}

// ask stores the primary's time. Earlier writes have an earlier time.
func (r *streamRun) ask(ctx context.Context) error {
	reply, err := core.Database(r.db).RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Raw()
	if err != nil {
		return err
	}
	r.until.T, r.until.I, _ = reply.Lookup("operationTime").TimestampOK()
	return nil
}

// caughtUp reports whether a change stream with an empty last batch has reached the begin
// of the run. Its token guarantees that the server has returned all changes before the
// token's time. An empty batch alone guarantees nothing, because the server returns a
// change only when a majority has it.
func (r *streamRun) caughtUp(token bson.Raw) bool {
	at, ok := bsonval.TokenTime(token)
	return !ok || !at.Before(r.until)
}

// closeStream closes the server's cursor, even if the context has ended.
func closeStream(ctx context.Context, cs *mongo.ChangeStream) {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = cs.Close(short) // the server closes an abandoned cursor itself
}

// store stores the token of the applied events if enough are applied, if some are and the
// stream is idle, or if always is set.
func (r *streamRun) store(ctx context.Context, idle, always bool) error {
	token, n := r.pool.done()
	r.since += n
	return r.saveToken(ctx, token, always || idle && r.since > 0)
}

// settle waits until all events that were read are applied, and stores the place.
func (r *streamRun) settle(ctx context.Context, cs *mongo.ChangeStream) error {
	for {
		all, err := r.pool.waitFor(ctx, r.saveEvery)
		if err != nil {
			return err
		}
		if all {
			r.pool.idle(bytes.Clone(cs.ResumeToken()))
			return r.store(ctx, true, true)
		}
		if err := r.store(ctx, false, false); err != nil {
			return err
		}
	}
}

// take passes the current event to the pool.
func (r *streamRun) take(ctx context.Context, cs *mongo.ChangeStream) error {
	raw := bytes.Clone(cs.Current)
	e, ok := readEvent(raw)
	if !ok || e.Kind == Updated && e.Document == nil && !r.stream.Bare {
		return nil // an event of the whole collection, or the document is gone and its delete event follows
	}
	if r.stream.isOwn(e, raw) {
		return nil
	}
	token, _ := bson.Raw(raw).Lookup("_id").DocumentOK()
	return r.pool.add(ctx, &streamJob{event: e, mark: e.Token, token: token})
}

var eventKinds = map[string]EventKind{"insert": Inserted, "update": Updated, "replace": Replaced, "delete": Deleted}

// readEvent decodes an event of a change stream. It returns false if the event isn't
// about a document.
func readEvent(raw bson.Raw) (e Event, ok bool) {
	name, _ := raw.Lookup("operationType").StringValueOK()
	if e.Kind, ok = eventKinds[name]; !ok {
		return e, false
	}
	e.ID = raw.Lookup("documentKey", "_id")
	e.Document, _ = raw.Lookup("fullDocument").DocumentOK()
	if token, isDocument := raw.Lookup("_id").DocumentOK(); isDocument {
		e.Token = tokenText(token)
	}
	if e.Kind == Updated {
		e.Updated, _ = raw.Lookup("updateDescription", "updatedFields").DocumentOK()
		e.Truncated = raw.Lookup("updateDescription", "truncatedArrays").Value
		list, _ := raw.Lookup("updateDescription", "removedFields").ArrayOK()
		values, _ := list.Values()
		for _, v := range values {
			if s, isString := v.StringValueOK(); isString {
				e.Removed = append(e.Removed, s)
			}
		}
	}
	if wall, isDate := raw.Lookup("wallTime").DateTimeOK(); isDate {
		e.Time = time.UnixMilli(wall).UTC()
	} else if t, _, isTime := raw.Lookup("clusterTime").TimestampOK(); isTime {
		e.Time = time.Unix(int64(t), 0).UTC()
	}
	return e, true
}
