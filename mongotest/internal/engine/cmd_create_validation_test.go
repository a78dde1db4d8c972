package engine_test

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A validation refuses what its level and action say, whichever command stores it.
func TestValidation(t *testing.T) {
	commands := []struct{ reason, command string }{
		{"insert", `{"insert":"things","documents":[{"_id":9,"n":"x"}]}`},
		{"update", `{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"n":"x"}}}]}`},
		{"update of what didn't match", `{"update":"things","updates":[{"q":{"_id":2},"u":{"$set":{"n":"y"}}}]}`},
		{"update of many", `{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"n":"x"}},"multi":true}]}`},
		{"update by a pipeline", `{"update":"things","updates":[{"q":{"_id":1},"u":[{"$set":{"n":"x"}}]}]}`},
		{"replacement", `{"update":"things","updates":[{"q":{"_id":1},"u":{"n":"x"}}]}`},
		{"upsert", `{"update":"things","updates":[{"q":{"_id":9},"u":{"$set":{"n":"x"}},"upsert":true}]}`},
		{"findAndModify", `{"findAndModify":"things","query":{"_id":1},"update":{"$set":{"n":"x"}}}`},
		{"findAndModify, upsert",
			`{"findAndModify":"things","query":{"_id":9},"update":{"$set":{"n":"x"}},"upsert":true}`},
		{"$merge", `{"aggregate":"others","pipeline":[{"$merge":"things"}],"cursor":{}}`},
		{"$out", `{"aggregate":"others","pipeline":[{"$out":"things"}],"cursor":{}}`},
		{"no change", `{"update":"things","updates":[{"q":{"_id":2},"u":{"$set":{"n":"x"}}}]}`},
	}
	const wrong = 2 // what was wrong before
	for _, level := range []struct {
		options         string
		refuses, strict bool // strict: refuses to leave wrong what was wrong before
	}{
		{`{}`, true, true},
		{`{"validationLevel":"strict","validationAction":"error"}`, true, true},
		{`{"validationLevel":"moderate"}`, true, false},
		{`{"validationLevel":"off"}`, false, false},
		{`{"validationAction":"warn"}`, false, false},
	} {
		for i, x := range commands {
			for _, bypass := range []bool{false, true} {
				c := collection(t)
				db := c.Database()
				insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":"x"}`)
				insert(t, db.Collection("others"), `{"_id":9,"n":"x"}`)
				mod := append(doc(t,
					`{"collMod":"things","validator":{"$jsonSchema":{"properties":{"n":{"bsonType":"int"}}}}}`),
					doc(t, level.options)...)
				if err := db.RunCommand(ctx, mod).Err(); err != nil {
					t.Fatal(err)
				}
				command := doc(t, x.command)
				if bypass {
					command = append(command, bson.E{Key: "bypassDocumentValidation", Value: true})
				}
				rep, err := db.RunCommand(ctx, command).Raw()
				if err == nil {
					if list, ok := rep.Lookup("writeErrors").ArrayOK(); ok {
						first := bson.RawArray(list).Index(0).Document()
						err = mongo.CommandError{Code: first.Lookup("code").Int32()}
					}
				}
				want := level.refuses && !bypass && x.reason != "no change" && (i != wrong || level.strict)
				switch {
				case want:
					wantCode(t, level.options+" "+x.reason, err, 121)
				case err != nil:
					t.Errorf("%s, bypass %t, %s: %v", level.options, bypass, x.reason, err)
				}
				if want {
					wantAll(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":"x"}`)
				}
			}
		}
	}
}

// A failure says which document it was.
func TestValidationError(t *testing.T) {
	c := collection(t)
	err := c.Database().CreateCollection(ctx, "things",
		options.CreateCollection().SetValidator(doc(t, `{"n":{"$gt":0}}`)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.InsertMany(ctx, []any{doc(t, `{"_id":1,"n":1}`), doc(t, `{"_id":2}`), doc(t, `{"_id":3,"n":3}`)})
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) || len(bulk.WriteErrors) != 1 || bulk.WriteErrors[0].Code != 121 ||
		bulk.WriteErrors[0].Index != 1 {
		t.Fatalf("got %v", err)
	}
	if got := bulk.WriteErrors[0].Details.Lookup("failingDocumentId"); got.Int32() != 2 {
		t.Errorf("details name %s", got)
	}
	wantSame(t, "details", show(t, bulk.WriteErrors[0].Details.Lookup("details").Document()),
		`{"operatorName":"$gt","specifiedAs":{"n":{"$gt":0}},"reason":"field was missing"}`)
	wantAll(t, c, `{"_id":1,"n":1}`)
}

// listCollections shows what create and collMod asked for; collMod keeps what it isn't told.
func TestValidationOptions(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	for _, step := range []struct{ command, options string }{
		{
			command: `{"create":"c","validator":{"n":1},"validationLevel":"moderate"}`,
			options: `{"validator":{"n":1},"validationLevel":"moderate"}`,
		},
		{
			command: `{"collMod":"c","validationAction":"warn"}`,
			options: `{"validator":{"n":1},"validationLevel":"moderate","validationAction":"warn"}`,
		},
		{
			command: `{"collMod":"c","validator":{"n":2}}`,
			options: `{"validator":{"n":2},"validationLevel":"moderate","validationAction":"warn"}`,
		},
		{`{"collMod":"c","validator":{}}`, `{"validationLevel":"moderate","validationAction":"warn"}`},
	} {
		if err := db.RunCommand(ctx, doc(t, step.command)).Err(); err != nil {
			t.Fatal(err)
		}
		list, err := db.ListCollectionSpecifications(ctx, bson.D{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if got := show(t, list[0].Options); got != step.options {
			t.Errorf("%s leaves %s, want %s", step.command, got, step.options)
		}
	}
	err := db.RunCommand(ctx, doc(t, `{"collMod":"c","validator":{"$jsonSchema":{"foo":1}}}`)).Err()
	wantCode(t, "an unknown keyword", err, 9)
}

// An error never outgrows a reply, and an expression that fails is a failed validation.
func TestValidationErrorLarge(t *testing.T) {
	c := collection(t)
	details := func(validator string, d bson.D) bson.Raw {
		t.Helper()
		if err := c.Database().RunCommand(ctx,
			doc(t, `{"collMod":"things","validator":`+validator+`}`)).Err(); err != nil {
			t.Fatal(err)
		}
		_, err := c.InsertOne(ctx, d)
		wantCode(t, validator, err, 121)
		var refused mongo.WriteException
		errors.As(err, &refused)
		return refused.WriteErrors[0].Details
	}
	must(t, c.Database().CreateCollection(ctx, "things"))
	large := bson.D{{Key: "_id", Value: int32(1)}, {Key: "s", Value: strings.Repeat("x", 13<<20)}}
	wantSame(t, "a large value", show(t, details(`{"s":{"$type":"int"}}`, large)),
		`{"failingDocumentId":1,"truncated":true,`+
			`"details":{"operatorName":"$type","reason":"type did not match","consideredType":"string"}}`)
	got := details(`{"$expr":{"$divide":[1,"$n"]}}`, doc(t, `{"_id":2,"n":0}`))
	wantSame(t, "an error", got.Lookup("details", "reason").StringValue(), "failed to evaluate aggregation expression")
}

// TestManualSchema is the example of the manual's page core/schema-validation/specify-json-schema: an int where a
// double is required.
func TestManualSchema(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	must(t, db.CreateCollection(ctx, "students", options.CreateCollection().SetValidator(doc(t, `{"$jsonSchema":{
		"bsonType":"object","title":"Student Object Validation","required":["address","major","name","year"],
		"properties":{
		"name":{"bsonType":"string","description":"'name' must be a string and is required"},
		"year":{"bsonType":"int","minimum":2017,"maximum":3017,
			"description":"'year' must be an integer in [ 2017, 3017 ] and is required"},
		"gpa":{"bsonType":["double"],"description":"'gpa' must be a double if the field exists"}}}}`))))
	student := func(gpa any) bson.D {
		return append(doc(t,
			`{"name":"Alice","year":2019,"major":"History","address":{"city":"NYC","street":"33rd Street"}}`),
			bson.E{Key: "gpa", Value: gpa})
	}
	_, err := db.Collection("students").InsertOne(ctx, student(int32(3)))
	wantCode(t, "an int", err, 121)
	var refused mongo.WriteException
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "Document failed validation") {
		t.Fatal(err)
	}
	wantSame(t, "details", show(t, refused.WriteErrors[0].Details.Lookup("details").Document()),
		`{"operatorName":"$jsonSchema",`+
			`"title":"Student Object Validation","schemaRulesNotSatisfied":[{"operatorName":"properties",`+
			`"propertiesNotSatisfied":[`+
			`{"propertyName":"gpa","description":"'gpa' must be a double if the field exists",`+
			`"details":[{"operatorName":"bsonType",`+
			`"specifiedAs":{"bsonType":["double"]},"reason":"type did not match","consideredValue":3,`+
			`"consideredType":"int"}]}]}]}`)
	must1[*mongo.InsertOneResult](t)(db.Collection("students").InsertOne(ctx, student(3.0)))
}

// TestManualLevels is the example of the manual's page core/schema-validation/specify-validation-level.
func TestManualLevels(t *testing.T) {
	for level, code2 := range map[string]int{"strict": 121, "moderate": 0} {
		client, _ := start(t)
		contacts := client.Database("test").Collection("contacts")
		insert(t, contacts, `{"_id":1,"name":"Anne","phone":"+1 555 123 456","city":"London","status":"Complete"}`,
			`{"_id":2,"name":"Ivan","city":"Vancouver"}`)
		must(t,
			contacts.Database().
				RunCommand(ctx, doc(t, `{"collMod":"contacts","validationLevel":"`+level+`","validator":{"$jsonSchema":{
			"bsonType":"object","required":["phone","name"],"properties":{
			"phone":{"bsonType":"string","description":"phone must be a string and is required"},
			"name":{"bsonType":"string","description":"name must be a string and is required"}}}}}`)).Err())
		_, err := contacts.UpdateByID(ctx, 1, doc(t, `{"$set":{"name":10}}`))
		wantCode(t, level+", a document that was valid", err, 121)
		_, err = contacts.UpdateByID(ctx, 2, doc(t, `{"$set":{"name":20}}`))
		if code2 != 0 {
			wantCode(t, level+", one that wasn't", err, code2)
		} else if err != nil {
			t.Errorf("%s, one that wasn't: %v", level, err)
		}
	}
}
