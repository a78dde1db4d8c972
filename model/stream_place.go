package model

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
)

// place is the stored place of a stream. Fence counts the runs, and only the latest run
// may store its place.
type place struct {
	Fence int64         `bson:"fence"`
	Token bson.Raw      `bson:"token,omitempty"` // of the change stream
	Scan  *scanPlace    `bson:"scan,omitempty"`  // during a scan of all documents
	Since *sincePlace   `bson:"since,omitempty"` // of polling
	At    bson.DateTime `bson:"at,omitempty"`
	Busy  *streamBusy   `bson:"busy,omitempty"` // while a run may have running plans
}

type scanPlace struct {
	After bson.RawValue `bson:"after,omitempty"`
}

type sincePlace struct {
	Value bson.RawValue `bson:"value"`
	ID    bson.RawValue `bson:"id"`
}

// claim makes this run the latest run and reads the stored place. It ignores the end of
// the context, because a claim that arrived late would take over from the next run.
func (r *streamRun) claim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.options.Grace)
	defer cancel()
	if err := core.CheckTenantNames(ctx, r.db, r.stream.Places); err != nil {
		return err
	}
	o := options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)
	filter := bson.D{{Key: "_id", Value: r.stream.Name}}
	inc := bson.D{{Key: "$inc", Value: bson.D{{Key: "fence", Value: int64(1)}}}}
	err := r.places().FindOneAndUpdate(ctx, filter, inc, o).Decode(&r.place)
	if mongo.IsDuplicateKeyError(err) { // by the first run of another client
		err = r.places().FindOneAndUpdate(ctx, filter, inc, o).Decode(&r.place)
	}
	r.saved = time.Now()
	return err
}

// places opens the collection at the primary, because the place that another run has just
// stored matters.
func (r *streamRun) places() *mongo.Collection {
	return collectionOf(runctx.Deciding(context.Background()), r.db, nil, r.stream.Places)
}

// save stores the place and reports it.
func (r *streamRun) save(ctx context.Context) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	return r.report()
}

// write stores the place, unless a later run has begun.
func (r *streamRun) write(ctx context.Context) error {
	set, unset := bson.D{}, bson.D{}
	put := func(name string, v any, there bool) {
		if there {
			set = append(set, bson.E{Key: name, Value: v})
			return
		}
		unset = append(unset, bson.E{Key: name, Value: ""})
	}
	put("token", r.place.Token, r.place.Token != nil)
	put("scan", r.place.Scan, r.place.Scan != nil)
	put("since", r.place.Since, r.place.Since != nil)
	put("at", bson.NewDateTimeFromTime(time.Now()), true)
	update := bson.D{{Key: "$set", Value: set}}
	if len(unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: unset})
	}
	res, err := r.places().UpdateOne(ctx, r.mine(), update)
	if err != nil {
		return err
	}
	if res.Acknowledged && res.MatchedCount == 0 {
		return ErrTakenOver
	}
	r.saved, r.since = time.Now(), 0
	return nil
}

// saveToken stores the token of the change stream if that is due.
func (r *streamRun) saveToken(ctx context.Context, token bson.Raw, due bool) error {
	same := token == nil || bytes.Equal(token, r.place.Token)
	if same || !due && r.since < r.saveEvery && time.Since(r.saved) < saveInterval {
		return nil
	}
	before := r.place.Token
	r.place.Token = bytes.Clone(token)
	if err := r.write(ctx); err != nil {
		r.place.Token = before // it isn't known whether the token was stored
		return err
	}
	return r.report()
}

// saveInterval is how often the place is stored without events, so that it stays within
// the server's history.
const saveInterval = time.Minute

func (r *streamRun) report() error {
	if r.options.Progress == nil {
		return nil
	}
	p := StreamProgress{Mode: r.mode}
	p.Applied, p.Backlog, p.Lag = r.pool.state()
	switch {
	case r.mode == Polling && r.place.Since != nil:
		p.Place = shell(r.place.Since.Value)
	case r.place.Token != nil:
		p.Place = tokenText(r.place.Token)
	}
	return r.options.Progress(p)
}

// tokenText returns a resume token as a string: its _data if that is a string.
func tokenText(token bson.Raw) string {
	if s, ok := token.Lookup("_data").StringValueOK(); ok {
		return s
	}
	return shell(token)
}

// lost reports whether the server no longer has the history of a change stream.
// unsupported reports whether it has no change streams.
func lost(err error) bool {
	var e mongo.ServerError
	return errors.As(err, &e) && e.HasErrorCode(286) // ChangeStreamHistoryLost
}

func unsupported(err error) bool {
	var e mongo.ServerError
	if !errors.As(err, &e) {
		return false
	}
	// CommandNotFound, CommandNotSupported, NotImplemented, "only supported on replica
	// sets", an unknown stage, and a deprecated or disabled feature.
	for _, code := range []int{59, 115, 238, 40573, 40324, 303} {
		if e.HasErrorCode(code) {
			return true
		}
	}
	return false
}
