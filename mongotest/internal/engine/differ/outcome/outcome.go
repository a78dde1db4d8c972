package outcome

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// Outcome is what a backend did with a case, without what may differ from run to run.
type Outcome struct {
	Code  int32    `bson:"code"`            // of the command or of its first write error; 0 for success
	Text  string   `bson:"text,omitempty"`  // the error's message, never compared
	Reply bson.D   `bson:"reply,omitempty"` // what matters of the reply
	State []bson.D `bson:"state,omitempty"` // the written collections' documents, if the command writes

	Loaded int32 // how many of the case's documents the unique indexes let in
}

// Fails reports whether the command failed, as a whole or in its first statement.
func (o Outcome) Fails() bool { return o.Code != 0 }

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
			out.Reply = append(out.Reply, bson.E{Key: e.Key, Value: Normalize(e.Value)})
		case "cursor":
			out.Reply = append(out.Reply, bson.E{Key: "batch", Value: Normalize(tree.Lookup(e.Value, "firstBatch"))})
		case "writeErrors":
			out.addWriteErrors(e.Value)
		}
	}
	slices.SortFunc(out.Reply, func(x, y bson.E) int { return bytes.Compare([]byte(x.Key), []byte(y.Key)) })
	return out
}

// addWriteErrors takes the error of the first statement that failed. The codes of later statements aren't compared.
func (o *Outcome) addWriteErrors(v any) {
	list, _ := v.(bson.A)
	for i, v := range list {
		code, _ := tree.Lookup(v, "code").(int32)
		if i == 0 {
			o.Code = code
			o.Text, _ = tree.Lookup(v, "errmsg").(string)
		}
	}
}

// FirstBatch returns the documents of a reply of find or aggregate.
func FirstBatch(reply bson.D) bson.A {
	a, _ := tree.Lookup(reply, "batch").(bson.A)
	return a
}

// SortReply puts the documents that came back in no determined order into one.
func SortReply(c cases.Case, reply bson.D) {
	for _, e := range reply {
		list, ok := e.Value.(bson.A)
		if ok && (e.Key == "values" || e.Key == "batch" && !c.Ordered) {
			slices.SortFunc(list, func(x, y any) int { return bytes.Compare(tree.Encode(x), tree.Encode(y)) })
		}
	}
}

var (
	someNow  = bson.DateTime(1) // stands for the time of the run
	SomeID   = bson.ObjectID{0xff}
	someTime = bson.Timestamp{T: 1}
)

// Normalize replaces what differs between two runs: the clock, new ids, the bits of a NaN.
func Normalize(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: Normalize(e.Value)}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = Normalize(x)
		}
		return out
	case float64:
		if math.IsNaN(v) {
			return math.NaN()
		}
	case bson.Decimal128:
		if v.IsNaN() {
			return tree.ParseDecimal("NaN")
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
			return SomeID
		}
	}
	return v
}

// recent reports whether a time is that of the run rather than of the case. The grammar's own dates are older.
func recent(t time.Time) bool {
	age := time.Since(t)
	return age > -time.Hour && age < 24*time.Hour
}

// MapOutcome applies f to each value of what came back and of what is stored, the inner ones first. Rules use it to
// compare outcomes in a form in which a known difference is gone.
func MapOutcome(o Outcome, f func(any) any) Outcome {
	o.Reply, _ = tree.Map(o.Reply, f).(bson.D)
	state := make([]bson.D, len(o.State))
	for i, doc := range o.State {
		state[i], _ = tree.Map(doc, f).(bson.D)
	}
	o.State = state
	return o
}

// HasValue reports whether a value of what came back, or of what is stored, is of a kind.
func (o Outcome) HasValue(is func(any) bool) bool {
	found := false
	for _, v := range []any{o.Reply, o.State} {
		tree.WalkValues(v, func(v any) { found = found || is(v) })
	}
	return found
}

// FailsComputing reports whether an outcome is an error that an expression makes of a value. Most of these errors
// have codes above 10000, the others the codes 14, 15 and 241 or a text of $divide. 11000 is a duplicate key.
func (o Outcome) FailsComputing() bool {
	return o.Code > 10000 && o.Code != 11000 || slices.Contains([]int32{241, 14, 15}, o.Code) ||
		strings.Contains(o.Text, "can't $divide") ||
		strings.HasPrefix(o.Text, "$divide by zero")
}

// DescribeBoth describes a difference for a person.
func DescribeBoth(engine, server Outcome) string {
	return fmt.Sprintf("engine: %s\nserver: %s", engine.Describe(), server.Describe())
}

// Describe returns the outcome as one line: the error, the reply, and what is stored.
func (o Outcome) Describe() string {
	text := func(v any) string {
		b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
		if err != nil {
			return err.Error()
		}
		return string(b[len(`{"v":`) : len(b)-1])
	}
	s := ""
	if o.Fails() {
		s = fmt.Sprintf("error %d (%s) ", o.Code, o.Text)
	}
	if len(o.Reply) > 0 {
		s += text(o.Reply)
	}
	if o.State != nil {
		s += " stored " + text(o.State)
	}
	return s
}
