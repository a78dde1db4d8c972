package differ

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Outcome is what a backend did with a case, without what may differ from run to run.
type Outcome struct {
	Code  int32    `bson:"code"`            // of the command or of its first write error; 0 for success
	Text  string   `bson:"text,omitempty"`  // the error's message, never compared
	Reply bson.D   `bson:"reply,omitempty"` // what matters of the reply
	State []bson.D `bson:"state,omitempty"` // the written collections' documents, if the command writes

	loaded int32 // how many of the case's documents the unique indexes let in
}

func (o Outcome) failed() bool { return o.Code != 0 }

// errNotLoaded means that the documents of a case could not be stored, so that there's nothing to compare.
var errNotLoaded = errors.New("documents refused")

// backend is a database, on the engine or on a server, that cases run in.
type backend struct {
	name string
	db   *mongo.Database
	held map[string]bool // the collections that hold documents
}

// newBackend creates the collections in a new database.
func newBackend(ctx context.Context, name string, db *mongo.Database) (*backend, error) {
	b := &backend{name: name, db: db}
	return b, b.recover(ctx)
}

func createAll(ctx context.Context, db *mongo.Database) error {
	for coll, indexes := range collections {
		if err := db.CreateCollection(ctx, coll); err != nil {
			return err
		}
		if len(indexes) == 0 {
			continue
		}
		if err := db.RunCommand(ctx, d("createIndexes", coll, "indexes", indexes)).Err(); err != nil {
			return err
		}
	}
	return nil
}

// run empties the collections, stores those of the case's documents that their collection takes, runs the
// command and reads what it left. An error means that the case says nothing.
func (b *backend) run(ctx context.Context, c Case) (Outcome, error) {
	for coll := range b.held {
		if err := b.db.RunCommand(ctx, d("delete", coll, "deletes", bson.A{d("q", bson.D{}, "limit", 0)})).Err(); err != nil {
			return Outcome{}, err
		}
		delete(b.held, coll)
	}
	loaded := int32(0)
	for coll, docs := range map[string][]bson.D{c.Collection: c.Docs, "o": c.Other} {
		if len(docs) == 0 {
			continue
		}
		b.held[coll] = true
		raw, err := b.db.RunCommand(ctx, d("insert", coll, "documents", docs, "ordered", false)).Raw()
		if err != nil && !errors.As(err, &mongo.WriteException{}) { // a document may violate a unique index
			return Outcome{}, errors.Join(errNotLoaded, err)
		}
		n, _ := raw.Lookup("n").AsInt64OK()
		loaded += int32(n)
	}
	out := outcomeOf(b.db.RunCommand(ctx, c.Command))
	out.loaded = loaded
	sortReply(c, out.Reply)
	if !c.writes() {
		return out, nil
	}
	for _, coll := range []string{c.Collection, "out"} {
		b.held[coll] = true
		state := outcomeOf(b.db.RunCommand(ctx, d("find", coll, "sort", d("_id", 1), "batchSize", 1000)))
		if state.failed() {
			return Outcome{}, errors.New(state.Text)
		}
		for _, v := range batch(state.Reply) {
			doc, _ := v.(bson.D)
			out.State = append(out.State, doc)
		}
	}
	slices.SortStableFunc(out.State, func(x, y bson.D) int {
		if lookup(x, "_id") != someID || lookup(y, "_id") != someID {
			return 0
		}
		return bytes.Compare(encode(x), encode(y)) // new ids come in no determined order
	})
	return out, nil
}

// outcome is run for a case that says nothing where it can't run.
func (b *backend) outcome(ctx context.Context, c Case) Outcome {
	out, err := b.run(ctx, c)
	if err != nil {
		return Outcome{Code: -1, Text: err.Error()}
	}
	return out
}

// outcomeOf takes from a reply what has to be equal: the numbers and documents, not the texts, topology and times.
func outcomeOf(result *mongo.SingleResult) Outcome {
	raw, err := result.Raw()
	var command mongo.CommandError
	switch {
	case errors.As(err, &command):
		return Outcome{Code: command.Code, Text: command.Message}
	case errors.As(err, &mongo.WriteException{}): // the reply has it all
	case err != nil:
		return Outcome{Code: -1, Text: err.Error()}
	}
	var reply bson.D
	if err := bson.Unmarshal(raw, &reply); err != nil {
		return Outcome{Code: -1, Text: err.Error()}
	}
	var out Outcome
	for _, e := range reply {
		switch e.Key {
		case "n", "nModified", "upserted", "value", "values", "lastErrorObject":
			out.Reply = append(out.Reply, bson.E{Key: e.Key, Value: normal(e.Value)})
		case "cursor":
			out.Reply = append(out.Reply, bson.E{Key: "batch", Value: normal(lookup(e.Value, "firstBatch"))})
		case "writeErrors":
			out.addWriteErrors(e.Value)
		}
	}
	slices.SortFunc(out.Reply, func(x, y bson.E) int { return bytes.Compare([]byte(x.Key), []byte(y.Key)) })
	return out
}

func (o *Outcome) addWriteErrors(v any) {
	list, _ := v.(bson.A)
	for i, v := range list {
		code, _ := lookup(v, "code").(int32)
		if i == 0 {
			o.Code = code
			o.Text, _ = lookup(v, "errmsg").(string)
		}
	}
}

func lookup(v any, key string) any {
	doc, _ := v.(bson.D)
	for _, e := range doc {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

func batch(reply bson.D) bson.A {
	a, _ := lookup(reply, "batch").(bson.A)
	return a
}

// sortReply puts the documents that came back in no determined order into one.
func sortReply(c Case, reply bson.D) {
	for _, e := range reply {
		list, ok := e.Value.(bson.A)
		if ok && (e.Key == "values" || e.Key == "batch" && !c.Ordered) {
			slices.SortFunc(list, func(x, y any) int { return bytes.Compare(encode(x), encode(y)) })
		}
	}
}

// encode is the BSON of a value inside a document.
func encode(v any) []byte {
	b, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

var (
	someNow  = bson.DateTime(1) // stands for the time of the run
	someID   = bson.ObjectID{0xff}
	someTime = bson.Timestamp{T: 1}
)

// normal replaces what differs between two runs: the clock, new ids, the bits of a NaN.
func normal(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: normal(e.Value)}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = normal(x)
		}
		return out
	case float64:
		if math.IsNaN(v) {
			return math.NaN()
		}
	case bson.Decimal128:
		if v.IsNaN() {
			return decimal("NaN")
		}
	case bson.DateTime:
		if recent(v.Time()) {
			return someNow
		}
	case bson.Timestamp:
		if recent(time.Unix(int64(v.T), 0)) {
			return someTime
		}
	case bson.ObjectID:
		if recent(v.Timestamp()) {
			return someID
		}
	}
	return v
}

func recent(t time.Time) bool {
	age := time.Since(t)
	return age > -time.Hour && age < 24*time.Hour
}
