package modeltest

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/docmodel/docmodel/model"
)

// A Command is a database command that a client sent.
type Command struct {
	Name       string // name of the command, such as "findAndModify"
	Database   string
	Collection string   // its collection; "" for none or several, as in some bulkWrites
	Body       bson.Raw // the command's BSON; [Monitor.Commands] shortens long values
}

// String returns the collection, the name and up to 200 bytes of the body, without fields
// that the driver adds.
func (c Command) String() string {
	s := c.Name
	if c.Collection != "" {
		s = c.Collection + "." + c.Name
	}
	var shown bson.D
	elements, _ := c.Body.Elements()
	for i, e := range elements {
		switch e.Key() {
		case "lsid", "$db", "$clusterTime", "txnNumber", "ordered", "$readPreference", "autocommit", "startTransaction", "maxTimeMS":
			continue
		}
		if i > 0 {
			shown = append(shown, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if len(shown) == 0 {
		return s
	}
	return s + " " + cut(model.Shell(shown), 200)
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// newCommand reads name and collection from a command's body.
func newCommand(database string, body bson.Raw) Command {
	c := Command{Database: database, Body: body}
	first, err := body.IndexErr(0)
	if err != nil {
		return c
	}
	c.Name = first.Key()
	switch v := first.Value(); {
	case c.Name == "getMore":
		c.Collection, _ = body.Lookup("collection").StringValueOK()
	case c.Name == "explain":
		if inner, ok := v.DocumentOK(); ok {
			c.Collection = newCommand(database, inner).Collection
		}
	case c.Name == "bulkWrite":
		c.Collection = onlyNamespace(body)
	case databaseCommands[c.Name]:
	default:
		c.Collection, _ = v.StringValueOK()
	}
	return c
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

// own reports whether the driver sends the command for itself: the handshake, server
// monitoring, endSessions. A program's own hello lacks the fields of the driver's.
func (c Command) own() bool {
	switch c.Name {
	case "hello", "isMaster", "ismaster":
		for _, key := range []string{"helloOk", "client", "topologyVersion", "maxAwaitTimeMS"} {
			if _, err := c.Body.LookupErr(key); err == nil {
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

// clip copies a command's body. In a large one, long arrays keep only their first
// elements, and other large values become a string with their size.
func clip(body bson.Raw) bson.Raw {
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
			b.AppendString(e.Key(), clipped(len(v.Value)))
		}
	}
	return bson.Raw(b.Build())
}

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

func clipped(n int) string { return fmt.Sprintf("… %d bytes", n) }
