package model

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// poll repeatedly plans for the documents written since the last poll.
func (r *streamRun) poll(ctx context.Context) error {
	r.mode = Polling
	if err := r.checkPolledScopes(); err != nil {
		return err
	}
	if r.place.Since == nil && r.options.FromNow {
		if err := r.pollFromNow(ctx); err != nil {
			return err
		}
	}
	for {
		if err := r.pollRound(ctx); err != nil {
			return err
		}
		if r.options.Once {
			return nil
		}
		if err := r.report(); err != nil {
			return err
		}
		timer := time.NewTimer(r.options.Interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// checkPolledScopes refuses a scope that sets the polled field. Each of the stream's own
// updates would set it, and be polled as a new change.
func (r *streamRun) checkPolledScopes() error {
	s := r.stream
	for _, scope := range scopesOf(r.db) {
		if s.Mark == "" || !scope.holds(s.Collection) {
			continue
		}
		for _, f := range scope.set {
			if clash(f.Key, s.Since) {
				return &ConflictError{
					Collection: s.Collection,
					Reason: "a scope sets the field " + s.Since + " in each update by the stream, " +
						"so the stream would poll its own updates without end: run it on the database itself",
				}
			}
		}
	}
	return nil
}

// pollFromNow stores the place of the newest document.
func (r *streamRun) pollFromNow(ctx context.Context) error {
	f := r.pollQuery(bson.D{}, 1)
	f.Sort = bson.D{{Key: r.stream.Since, Value: -1}, {Key: "_id", Value: -1}}
	docs, err := f.All(ctx, r.db)
	if err != nil || len(docs) == 0 {
		return err
	}
	r.place.Since = r.placeOf(docs[0])
	return r.save(ctx)
}

// pollRound plans for all documents after the place, minus the overlap.
func (r *streamRun) pollRound(ctx context.Context) error {
	at, back := r.place.Since, false
	if at != nil {
		at, back = r.goBack(*at)
	}
	for {
		f := r.pollQuery(r.pollFilter(at, back), int64(r.options.Queue))
		docs, err := f.All(ctx, r.db)
		if err != nil || len(docs) == 0 {
			return err
		}
		// What the updates store in Stream.Mark. Documents of the overlap are planned again, by
		// a repeatable plan.
		mark := func(doc bson.Raw) string {
			v := r.placeOf(doc).Value
			return fmt.Sprintf("poll %x%x", byte(v.Type), v.Value)
		}
		if err := r.each(ctx, docs, mark); err != nil {
			return err
		}
		next := r.placeOf(docs[len(docs)-1])
		moved := r.place.Since == nil || !next.Value.Equal(r.place.Since.Value) || !next.ID.Equal(r.place.Since.ID)
		at, back, r.place.Since = next, false, next
		if moved {
			if err := r.save(ctx); err != nil {
				return err
			}
		}
		if len(docs) < r.options.Queue {
			return nil
		}
	}
}

func (r *streamRun) pollQuery(filter bson.D, n int64) *Find[bson.Raw] {
	since := r.stream.Since
	if len(filter) == 0 {
		filter = bson.D{{Key: since, Value: bson.D{{Key: "$ne", Value: nil}}}}
	}
	return &Find[bson.Raw]{Query{
		Collection: r.stream.Collection, Filter: filter, Limit: n,
		Sort:    bson.D{{Key: since, Value: 1}, {Key: "_id", Value: 1}},
		Options: ReadOptions{BatchSize: int32(n)},
	}}
}

// pollFilter returns the filter for documents after a place, or for all documents from
// the place's value on.
func (r *streamRun) pollFilter(at *sincePlace, whole bool) bson.D {
	since := r.stream.Since
	switch {
	case at == nil:
		return nil
	case whole:
		return bson.D{{Key: since, Value: bson.D{{Key: "$gte", Value: at.Value}}}}
	}
	beyond := bson.D{{
		Key:   "$expr",
		Value: bson.D{{Key: "$gt", Value: bson.A{"$_id", bson.D{{Key: "$literal", Value: at.ID}}}}},
	}}
	return bson.D{
		{Key: since, Value: bson.D{{Key: "$gte", Value: at.Value}}},
		{Key: "$or", Value: bson.A{bson.D{{Key: since, Value: bson.D{{Key: "$gt", Value: at.Value}}}}, beyond}},
	}
}

func (r *streamRun) placeOf(doc bson.Raw) *sincePlace {
	return &sincePlace{doc.Lookup(strings.Split(r.stream.Since, ".")...), doc.Lookup("_id")}
}

// goBack returns the place minus the overlap.
func (r *streamRun) goBack(at sincePlace) (_ *sincePlace, back bool) {
	if r.stream.Overlap <= 0 {
		return &at, false
	}
	switch at.Value.Type {
	case bson.TypeDateTime:
		ms := at.Value.DateTime() - r.stream.Overlap.Milliseconds()
		at.Value.Value = binary.LittleEndian.AppendUint64(nil, uint64(ms))
	case bson.TypeObjectID:
		id := at.Value.ObjectID()
		at.Value.Value = append([]byte{}, at.Value.Value...)
		seconds := uint32(max(0, id.Timestamp().Unix()-int64(r.stream.Overlap/time.Second)-1))
		at.Value.Value = append(binary.BigEndian.AppendUint32(nil, seconds), make([]byte, 8)...)
	default:
		return &at, false
	}
	return &at, true
}
