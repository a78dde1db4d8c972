package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A lockID names the lock document of a lease.
type lockID struct{ collection, id string }

// locksTaken returns the lock documents of leases that the commands take.
func locksTaken(commands []mongotest.Command) map[lockID]bool {
	locks := map[lockID]bool{}
	for _, c := range commands {
		if c.Name != "findAndModify" {
			continue
		}
		_, counts := c.Body.Lookup("update", "$inc", "fence").Int64OK()
		_, holds := c.Body.Lookup("update", "$set", "holder").ObjectIDOK()
		id, err := c.Body.LookupErr("query", "_id")
		if !counts || !holds || err != nil {
			continue
		}
		if d, ok := id.DocumentOK(); ok {
			if v, err := d.LookupErr("$eq"); err == nil {
				id = v
			}
		}
		locks[lockID{c.Collection, canonicalID(id)}] = true
	}
	return locks
}

// canonicalID returns an _id as in a dump.
func canonicalID(id any) string {
	text, err := bson.MarshalExtJSON(bson.D{{Key: "_id", Value: id}}, true, false)
	if err != nil {
		return fmt.Sprint(id)
	}
	return string(text)
}

// withoutIgnored returns a dump without the fences of lock documents and without ignored
// paths, only for comparison.
func withoutIgnored(dump string, locks map[lockID]bool, ignore map[string]string) (string, error) {
	ignored := func(path string) bool { _, is := ignore[path]; return is }
	var collections bson.D
	if err := bson.UnmarshalExtJSON([]byte(dump), true, &collections); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range collections {
		if ignored(c.Key + ".*") {
			continue
		}
		fmt.Fprintf(&b, "%q:\n", c.Key)
		for _, v := range c.Value.(bson.A) {
			doc := v.(bson.D)
			if slices.ContainsFunc(doc, func(e bson.E) bool {
				return e.Key == "_id" && locks[lockID{c.Key, canonicalID(e.Value)}]
			}) {
				doc = slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "fence" })
			}
			if len(ignore) > 0 {
				doc = sorted(doc, c.Key, ignored)
			}
			text, err := bson.MarshalExtJSON(doc, true, false)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "  %s\n", text)
		}
	}
	return b.String(), nil
}
