package testserver

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// ParseCommand reads the name and the collection from a command's body. The collection is
// "" for none or several.
func ParseCommand(body bson.Raw) (name, collection string) {
	first, err := body.IndexErr(0)
	if err != nil {
		return "", ""
	}
	name = first.Key()
	switch v := first.Value(); {
	case name == "getMore":
		collection, _ = body.Lookup("collection").StringValueOK()
	case name == "explain":
		if inner, ok := v.DocumentOK(); ok {
			_, collection = ParseCommand(inner)
		}
	case name == "bulkWrite":
		collection = onlyNamespace(body)
	case databaseCommands[name]:
	default:
		collection, _ = v.StringValueOK()
	}
	return name, collection
}

// onlyNamespace returns the collection of a bulkWrite on one collection, else "".
func onlyNamespace(body bson.Raw) string {
	list, ok := body.Lookup("nsInfo").ArrayOK()
	if !ok {
		return ""
	}
	values, _ := list.Values()
	if len(values) != 1 {
		return ""
	}
	info, _ := values[0].DocumentOK()
	ns, _ := info.Lookup("ns").StringValueOK()
	_, collection, _ := strings.Cut(ns, ".")
	return collection
}

// databaseCommands have an argument that isn't a collection.
var databaseCommands = map[string]bool{
	"renameCollection": true, "listCollections": true, "dropDatabase": true, "getLog": true,
}

// IsDriversOwn reports whether the driver sends the command for itself: the handshake, server
// monitoring, endSessions. A program's own hello lacks the fields of the driver's.
func IsDriversOwn(name string, body bson.Raw) bool {
	switch name {
	case "hello", "isMaster", "ismaster":
		for _, key := range []string{"helloOk", "client", "topologyVersion", "maxAwaitTimeMS"} {
			if _, err := body.LookupErr(key); err == nil {
				return true
			}
		}
		return false
	case "endSessions", "saslStart", "saslContinue", "authenticate":
		return true
	}
	return false
}

const (
	clipValue = 4 << 10  // shorten larger values of a command
	clipBody  = 16 << 10 // shorten larger commands
)

// Clip copies a command's body. In a large one, long arrays keep only their first
// elements, and other large values become a string with their size.
func Clip(body bson.Raw) bson.Raw {
	if len(body) <= clipBody {
		return append(bson.Raw(nil), body...)
	}
	elements, err := body.Elements()
	if err != nil {
		return nil
	}
	b := bsoncore.NewDocumentBuilder()
	for _, e := range elements {
		v := e.Value()
		switch {
		case len(v.Value) <= clipValue:
			b.AppendValue(e.Key(), bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value})
		case v.Type == bson.TypeArray:
			b.AppendArray(e.Key(), clipArray(v))
		default:
			b.AppendString(e.Key(), describeClipped(len(v.Value)))
		}
	}
	return bson.Raw(b.Build())
}

// clipArray returns the first elements of an array, and how many more there are.
func clipArray(v bson.RawValue) bsoncore.Array {
	array, _ := v.ArrayOK()
	values, _ := array.Values()
	b := bsoncore.NewArrayBuilder()
	for i, size := 0, 0; i < len(values); i++ {
		if size += len(values[i].Value); size > clipValue {
			b.AppendString(fmt.Sprintf("… %d more", len(values)-i))
			break
		}
		b.AppendValue(bsoncore.Value{Type: bsoncore.Type(values[i].Type), Data: values[i].Value})
	}
	return b.Build()
}

// describeClipped returns the text in place of a value of n bytes.
func describeClipped(n int) string { return fmt.Sprintf("… %d bytes", n) }

var statementsFields = map[string]string{
	"insert": "documents", "update": "updates", "delete": "deletes", "bulkWrite": "ops",
}

// StatementsField returns the name of the array with a write command's statements.
func StatementsField(command string) string { return statementsFields[command] }

// Statements returns the statements of a write command.
func Statements(name string, body bson.Raw) []bson.RawValue {
	array, ok := body.Lookup(statementsFields[name]).ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values()
	return values
}

// IsMany reports whether the command is one update or delete of many documents.
func IsMany(name string, body bson.Raw) bool {
	list := Statements(name, body)
	if len(list) != 1 {
		return false
	}
	s, ok := list[0].DocumentOK()
	if !ok {
		return false
	}
	multi, _ := s.Lookup("multi").BooleanOK()
	limit, limited := s.Lookup("limit").AsInt64OK()
	return name == "update" && multi || name == "delete" && limited && limit == 0
}

// IsInTransaction reports whether the command belongs to a transaction.
func IsInTransaction(body bson.Raw) bool {
	_, err := body.LookupErr("autocommit")
	return err == nil
}
