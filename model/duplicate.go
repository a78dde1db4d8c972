package model

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// explains reports whether the reason can explain err. Any reason can explain a write
// that matched nothing, or an insert with a duplicate key. An update with a duplicate key
// has found its document, and an upsert may have found it: such a reason must ask for the
// taken key.
func (r Reason) explains(w Write, err error) bool {
	if r.onID {
		return slices.Equal(violated(err), []string{"_id"})
	}
	if _, insert := w.Model.(*mongo.InsertOneModel); insert || !mongo.IsDuplicateKeyError(err) {
		return true
	}
	if core.CheckDepth(r.If) != nil {
		return true // refused when it is encoded
	}
	asked := equalities(r.If, nil)
	keys := violated(err)
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(k string) bool { return !slices.Contains(asked, k) })
}

// equalities appends the paths that a filter compares with a value for equality.
func equalities(filter bson.D, to []string) []string {
	for _, e := range filter {
		if e.Key == "$and" {
			all, _ := e.Value.(bson.A)
			for _, f := range all {
				if f, ok := f.(bson.D); ok {
					to = equalities(f, to)
				}
			}
		} else if bsondoc.IsEquality(e.Value) {
			to = append(to, e.Key)
		}
	}
	return to
}

// DuplicateIndex returns the unique index's name from a duplicate key error. It returns
// "" for other errors, or if the server doesn't name the index.
func DuplicateIndex(err error) string {
	if !mongo.IsDuplicateKeyError(err) {
		return ""
	}
	_, message := writeErrorOf(err)
	return indexIn(message)
}

// defaultName matches the parts of an index's default name, such as left_1_right_-1.
var defaultName = regexp.MustCompile(`(.+?)_(?:-?1|hashed|text|2d|2dsphere)(?:_|$)`)

// violated returns the fields of the unique index of a duplicate key error, from the
// server's answer or the index's default name. It returns nil if neither has them.
func violated(err error) []string {
	raw, message := writeErrorOf(err)
	if pattern, ok := raw.Lookup("keyPattern").DocumentOK(); ok {
		var keys []string
		elems, _ := pattern.Elements()
		for _, e := range elems {
			keys = append(keys, e.Key())
		}
		return keys
	}
	name := indexIn(message)
	if name == IDIndex {
		return []string{"_id"}
	}
	var keys []string
	at := 0
	for _, m := range defaultName.FindAllStringSubmatchIndex(name, -1) {
		if m[0] != at {
			return nil
		}
		keys, at = append(keys, name[m[2]:m[3]]), m[1]
	}
	if at != len(name) {
		return nil
	}
	return keys
}

// writeErrorOf returns the server's answer for the first failed statement.
func writeErrorOf(err error) (bson.Raw, string) {
	var bulk mongo.BulkWriteException
	if errors.As(err, &bulk) && len(bulk.WriteErrors) > 0 {
		return bulk.WriteErrors[0].Raw, bulk.WriteErrors[0].Message
	}
	var one mongo.WriteException
	if errors.As(err, &one) && len(one.WriteErrors) > 0 {
		return one.WriteErrors[0].Raw, one.WriteErrors[0].Message
	}
	var cmd mongo.CommandError
	errors.As(err, &cmd)
	return cmd.Raw, cmd.Message
}

// indexIn returns the index name in the message of a duplicate key error: MongoDB's "…
// index: email_1 dup key: { email: … }", or DocumentDB's "… Index 'email_1'".
func indexIn(message string) string {
	if _, rest, ok := strings.Cut(message, " index: "); ok {
		name, _, _ := strings.Cut(rest, " dup key: ")
		return name
	}
	_, rest, _ := strings.Cut(message, "Index '")
	return strings.TrimSuffix(rest, "'")
}

// A takenError is the error of a store's write that violates a unique index.
type takenError struct {
	values    string // the collection, the fields and their values
	duplicate error  // the server's
}

func (e *takenError) Error() string {
	return fmt.Sprintf("%v (%s is stored already)", ErrTaken, e.values)
}

func (e *takenError) Unwrap() []error { return []error{ErrTaken, e.duplicate} }

// newTakenError names the fields and values that are taken, without those of a tenant. If
// neither the server nor the write tells the values, the server's message remains.
func newTakenError(w Write, duplicate error) error {
	shown := slices.DeleteFunc(takenValues(w, duplicate), func(e bson.E) bool {
		return bsonval.Index(w.scoping().tenant, e.Key) >= 0
	})
	if len(shown) == 0 {
		return fmt.Errorf("%w: %w", ErrTaken, duplicate)
	}
	return &takenError{w.Collection + " " + clip(shell(shown), 120), duplicate}
}

// takenValues returns the fields of the violated index, with the values of the server's
// answer or else of the inserted document. It returns nil if they aren't known.
func takenValues(w Write, duplicate error) (out bson.D) {
	raw, _ := writeErrorOf(duplicate)
	if raw.Lookup("collation").Type != 0 { // the values are keys of the collation
		return nil
	}
	told, ok := raw.Lookup("keyValue").DocumentOK()
	elems, _ := told.Elements()
	for _, e := range elems {
		out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
	}
	insert, inserts := w.Model.(*mongo.InsertOneModel)
	if ok || !inserts {
		return out
	}
	if doc, ok := insert.Document.(bson.Raw); ok {
		for _, path := range violated(duplicate) {
			v, _ := core.ValueAt(doc, path)
			out = append(out, bson.E{Key: path, Value: v})
		}
	}
	return out
}
