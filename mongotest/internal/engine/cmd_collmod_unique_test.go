package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestConvertToUnique is after core/index-unique/convert-to-unique.
func TestConvertToUnique(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"type":"Delicious"}`, `{"_id":2,"type":"Delicious"}`, `{"_id":3,"type":"Fuji"}`,
		`{"_id":4,"type":"Gala"}`, `{"_id":5,"type":"Gala"}`)
	run := func(command string) (string, error) {
		t.Helper()
		reply, err := c.Database().RunCommand(t.Context(), doc(t, strings.ReplaceAll(command, "COLL", c.Name()))).Raw()
		if err != nil {
			return "", err
		}
		var d bson.D
		if err := bson.Unmarshal(reply, &d); err != nil {
			return "", err
		}
		var told []string
		for _, e := range d {
			if strings.Contains(e.Key, "nique") {
				told = append(told, fmt.Sprint(e.Key, " ", e.Value))
			}
		}
		return strings.Join(told, ", "), nil
	}
	const index = `{"collMod": "COLL", "index": {"keyPattern": {"type": 1}, `
	for _, tt := range []struct {
		reason, command, told string
		code                  int
	}{
		{"an index", `{"createIndexes": "COLL", "indexes": [{"key": {"type": 1}, "name": "type_1"}]}`, "", 0},
		{"unique without preparation", index + `"unique": true}}`, "", 72},
		{"not unique", index + `"unique": false}}`, "", 2},
		{"no boolean", index + `"unique": "100"}}`, "", 14},
		{"preparation", index + `"prepareUnique": true}}`, "prepareUnique_old false, prepareUnique_new true", 0},
		{"a preparation that is there", index + `"prepareUnique": true}}`, "", 0},
		{"a new duplicate", `{"update": "COLL", "updates": [{"q": {"_id": 3}, "u": {"$set": {"type": "Gala"}}}]}`, "",
			11000},
		{
			reason:  "an old one may change otherwise",
			command: `{"update": "COLL", "updates": [{"q": {"_id": 2}, "u": {"$set": {"n": 1}}}]}`,
			told:    "", code: 0,
		},
		{"a dry run", index + `"unique": true}, "dryRun": true}`, "", 359},
		{"a dry run of something else", index + `"hidden": true}, "dryRun": true}`, "", 72},
		{"a dry run of one thing more", index + `"unique": true}, "validationLevel": "off", "dryRun": true}`, "", 72},
		{"duplicates", index + `"unique": true}}`, "", 359},
		{"one resolved", `{"delete": "COLL", "deletes": [{"q": {"_id": 2}, "limit": 1}]}`, "", 0},
		{"another resolved", `{"update": "COLL", "updates": [{"q": {"_id": 4}, "u": {"$set": {"type": "Elstar"}}}]}`,
			"", 0},
		{"a dry run that goes well", index + `"unique": true}, "dryRun": true}`, "", 0},
		{"unique", index + `"unique": true}}`, "unique_new true", 0},
		{"unique already", index + `"unique": true}}`, "", 0},
		{"a duplicate", `{"insert": "COLL", "documents": [{"_id": 9, "type": "Gala"}]}`, "", 11000},
		{"a hashed index", `{"createIndexes": "COLL", "indexes": [{"key": {"h": "hashed"}, "name": "h"}]}`, "", 0},
		{"a hashed index can't be unique", `{"collMod": "COLL", "index": {"name": "h", "prepareUnique": true}}`, "",
			67},
		{
			reason:  "made with preparation",
			command: `{"createIndexes": "COLL", "indexes": [{"key": {"n": 1}, "name": "n", "prepareUnique": true}]}`,
			told:    "", code: 0,
		},
		{"a new duplicate of it", `{"insert": "COLL", "documents": [{"_id": 10, "type": "x"}]}`, "", 11000},
	} {
		told, err := run(tt.command)
		var failed mongo.CommandError
		var write mongo.WriteException
		code := 0
		switch {
		case errors.As(err, &failed):
			code = int(failed.Code)
		case errors.As(err, &write):
			code = write.WriteErrors[0].Code
		case err != nil:
			t.Fatal(err)
		}
		if code != tt.code || told != tt.told {
			t.Errorf("%s: code %d and %q, %v, want %d and %q", tt.reason, code, told, err, tt.code, tt.told)
		}
		if code == 359 {
			if got := failed.Raw.Lookup("violations").
				String(); !strings.HasPrefix(got,
				`[{"ids": [{"$numberInt":"1"},{"$numberInt":"2"}]},{"ids": [{"$numberInt":"4"}`) {
				t.Errorf("%s: violations %s", tt.reason, got)
			}
		}
	}
}
