package mongotest

import (
	"github.com/docmodel/docmodel/internal/mongosh"
	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
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
		case "lsid", "$db", "$clusterTime", "txnNumber", "ordered", "$readPreference", "autocommit",
			"startTransaction", "maxTimeMS":
			continue
		}
		if i > 0 {
			shown = append(shown, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if len(shown) == 0 {
		return s
	}
	raw, err := bson.Marshal(shown)
	if err != nil {
		return s
	}
	return s + " " + mongosh.Shorten(mongosh.Document(raw), 200)
}

// newCommand reads name and collection from a command's body.
func newCommand(database string, body bson.Raw) Command {
	name, collection := testserver.ParseCommand(body)
	return Command{Name: name, Database: database, Collection: collection, Body: body}
}
