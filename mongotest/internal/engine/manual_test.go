package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// The worked examples of MongoDB's manual about what the server at hand has not: the same input must give the output
// that the pages show. Pages are named by their path below https://www.mongodb.com/docs/manual/.

// pizzas stores the collections of the page reference/command/bulkWrite.
func pizzas(t *testing.T) *mongo.Database {
	t.Helper()
	client, _ := start(t)
	db := client.Database("test")
	insert(t, db.Collection("pizzas"), `{"_id":0,"type":"pepperoni","size":"small","price":4}`,
		`{"_id":1,"type":"cheese","size":"medium","price":7}`, `{"_id":2,"type":"vegan","size":"large","price":8}`)
	insert(t, db.Collection("pizzaOrders"),
		`{"_id":0,"type":"pepperoni","number":5,"orderDate":{"$date":"2023-01-15T12:00:00Z"}}`,
		`{"_id":1,"type":"cheese","number":15,"orderDate":{"$date":"2023-01-23T11:12:32Z"}}`,
		`{"_id":2,"type":"vegan","number":20,"orderDate":{"$date":"2023-03-20T10:01:12Z"}}`)
	return db
}

// TestManualBulkWrite runs the examples of reference/command/bulkWrite. The page was written for 7.2, which has
// numErrors; since 7.3 it is nErrors, with the totals beside it.
func TestManualBulkWrite(t *testing.T) {
	for _, c := range []struct{ name, command, results, totals, pizzas, orders string }{
		{"single namespace", `{"bulkWrite":1,"nsInfo":[{"ns":"test.pizzas"}],"ops":[
			{"insert":0,"document":{"_id":4,"type":"sausage","size":"small","price":12}},
			{"update":0,"filter":{"size":"medium"},"updateMods":{"$set":{"price":15}}},
			{"delete":0,"filter":{"_id":2}}]}`,
			`{"ok":1.0,"idx":0,"n":1} {"ok":1.0,"idx":1,"n":1,"nModified":1} {"ok":1.0,"idx":2,"n":1}`,
			`errors 0, inserted 1, matched 1, modified 1, upserted 0, deleted 1`, "[0:4 1:15 4:12]", "[0 1 2]"},
		{"multiple namespaces", `{"bulkWrite":1,"nsInfo":[{"ns":"test.pizzas"},{"ns":"test.pizzaOrders"}],"ops":[
			{"insert":0,"document":{"_id":5,"type":"sausage","size":"small","price":12}},
			{"insert":0,"document":{"_id":6,"type":"vegan cheese","size":"large","price":25}},
			{"update":0,"filter":{"type":"cheese"},"updateMods":{"$set":{"price":15}}},
			{"delete":0,"filter":{"price":{"$lt":7}}},
			{"insert":1,"document":{"_id":3,"type":"sausage","number":7,"orderDate":{"$date":"2023-04-15T12:02:15Z"}}},
			{"insert":1,"document":{"_id":4,"type":"vegan","number":16,"orderDate":{"$date":"2023-05-12T11:03:11Z"}}},
			{"update":1,"filter":{"type":"cheese"},"updateMods":{"$set":{"number":50}}},
			{"delete":1,"filter":{"_id":2}},
			{"delete":1,"filter":{"orderDate":{"$lte":{"$date":"2023-03-15T00:00:00Z"}}}}]}`,
			`{"ok":1.0,"idx":0,"n":1} {"ok":1.0,"idx":1,"n":1} {"ok":1.0,"idx":2,"n":1,"nModified":1} {"ok":1.0,"idx":3,"n":1} ` +
				`{"ok":1.0,"idx":4,"n":1} {"ok":1.0,"idx":5,"n":1} {"ok":1.0,"idx":6,"n":1,"nModified":1} {"ok":1.0,"idx":7,"n":1} ` +
				`{"ok":1.0,"idx":8,"n":1}`,
			`errors 0, inserted 4, matched 2, modified 2, upserted 0, deleted 3`, "[1:15 2:8 5:12 6:25]", "[1 3 4]"},
		{"operations with errors", `{"bulkWrite":1,"ordered":false,"nsInfo":[{"ns":"test.pizzas"}],"ops":[
			{"insert":0,"document":{"_id":1,"type":"tomato","size":"small","price":12}},
			{"insert":0,"document":{"_id":2,"type":"pepper","size":"small","price":12}},
			{"update":0,"filter":{"size":"extra large"},"updateMods":{"$set":{"price":15}}},
			{"delete":0,"filter":{"_id":8}}]}`,
			duplicatePizza("0", "1") + duplicatePizza("1", "2") +
				`{"ok":1.0,"idx":2,"n":0,"nModified":0} {"ok":1.0,"idx":3,"n":0}`,
			`errors 2, inserted 0, matched 0, modified 0, upserted 0, deleted 0`, "[0:4 1:7 2:8]", "[0 1 2]"},
	} {
		db := pizzas(t)
		var reply bulkReply
		must(t, db.Client().Database("admin").RunCommand(ctx, doc(t, c.command)).Decode(&reply))
		same(t, c.name+": results", reply.results(t), c.results)
		same(t, c.name+": totals", reply.totals(), c.totals)
		same(t, c.name+": pizzas", prices(t, db.Collection("pizzas")), c.pizzas)
		var orders []int
		must(t, db.Collection("pizzaOrders").Distinct(ctx, "_id", bson.D{}).Decode(&orders))
		same(t, c.name+": orders", orders, c.orders)
	}
}

func duplicatePizza(idx, id string) string {
	return `{"ok":0.0,"idx":` + idx +
		`,"code":11000,"errmsg":"E11000 duplicate key error collection: test.pizzas index: _id_ dup key: { _id: ` +
		id + ` }","keyPattern":{"_id":1},"keyValue":{"_id":` + id + `},"n":0} `
}

// TestManualUpdateEvent is the example of reference/change-events/update, with and without updateLookup.
func TestManualUpdateEvent(t *testing.T) {
	client, _ := start(t)
	users := client.Database("engineering").Collection("users")
	id := must1[bson.ObjectID](t)(bson.ObjectIDFromHex("58a4eb4a30c75625e00d2820"))
	vacation := make(bson.A, 40)
	for i := range vacation {
		vacation[i] = i
	}
	must1[*mongo.InsertOneResult](t)(users.InsertOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "name", Value: "Alice"},
		{Key: "userName", Value: "alice123"}, {Key: "email", Value: "alice@mongodb.com"}, {Key: "phoneNumber", Value: "555"},
		{Key: "team", Value: "replication"}, {Key: "vacation_time", Value: vacation}}))
	plain, full := watch(t, users, quick()), watch(t, users, quick().SetFullDocument(options.UpdateLookup))
	must1[*mongo.UpdateResult](t)(users.UpdateByID(ctx, id, stagesFrom(t,
		`{"$set":{"email":"alice@10gen.com","vacation_time":{"$slice":["$vacation_time",36]}}}`, `{"$unset":"phoneNumber"}`)))
	const key = `"ns":{"db":"engineering","coll":"users"},"documentKey":{"_id":{"$oid":"58a4eb4a30c75625e00d2820"}},` +
		`"updateDescription":{"updatedFields":{"email":"alice@10gen.com"},"removedFields":["phoneNumber"],` +
		`"truncatedArrays":[{"field":"vacation_time","newSize":36}]}}`
	wantEvents(t, "update", events(t, plain), `{"operationType":"update",`+key)
	got := events(t, full)
	if len(got) != 1 ||
		!strings.Contains(got[0], `"fullDocument":{"_id":{"$oid":"58a4eb4a30c75625e00d2820"},"name":"Alice","userName":`+
			`"alice123","email":"alice@10gen.com","team":"replication"`) || !strings.HasSuffix(got[0], key) {
		t.Errorf("updateLookup: %s", got)
	}
}

// TestManualTransaction is the example of core/transactions-in-applications: the callback API, over two databases.
func TestManualTransaction(t *testing.T) {
	client, _ := start(t)
	foo, bar := client.Database("mydb1").Collection("foo"), client.Database("mydb2").Collection("bar")
	insert(t, foo, `{"_id":0,"abc":0}`)
	insert(t, bar, `{"_id":0,"xyz":0}`)
	session := must1[*mongo.Session](t)(client.StartSession())
	defer session.EndSession(ctx)
	run := func(fail error) (any, error) {
		return session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := foo.InsertOne(ctx, doc(t, `{"_id":1,"abc":1}`)); err != nil {
				return nil, err
			}
			if _, err := bar.InsertOne(ctx, doc(t, `{"_id":1,"xyz":999}`)); err != nil {
				return nil, err
			}
			return "Inserted into collections in different databases", fail
		}, options.Transaction().SetReadConcern(readconcern.Local()).SetWriteConcern(writeconcern.Majority()))
	}
	if _, err := run(errBoom); !errors.Is(err, errBoom) {
		t.Error(err)
	}
	wantAll(t, foo, `{"_id":0,"abc":0}`)
	wantAll(t, bar, `{"_id":0,"xyz":0}`)
	same(t, "result", must1[any](t)(run(nil)), "Inserted into collections in different databases")
	wantAll(t, foo, `{"_id":0,"abc":0}`, `{"_id":1,"abc":1}`)
	wantAll(t, bar, `{"_id":0,"xyz":0}`, `{"_id":1,"xyz":999}`)
}

// TestManualSchema is the example of core/schema-validation/specify-json-schema: an int where a double is required.
func TestManualSchema(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	must(t, db.CreateCollection(ctx, "students", options.CreateCollection().SetValidator(doc(t, `{"$jsonSchema":{
		"bsonType":"object","title":"Student Object Validation","required":["address","major","name","year"],"properties":{
		"name":{"bsonType":"string","description":"'name' must be a string and is required"},
		"year":{"bsonType":"int","minimum":2017,"maximum":3017,"description":"'year' must be an integer in [ 2017, 3017 ] and is required"},
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
	same(t, "details", show(t, refused.WriteErrors[0].Details.Lookup("details").Document()),
		`{"operatorName":"$jsonSchema",`+
			`"title":"Student Object Validation","schemaRulesNotSatisfied":[{"operatorName":"properties","propertiesNotSatisfied":[`+
			`{"propertyName":"gpa","description":"'gpa' must be a double if the field exists","details":[{"operatorName":"bsonType",`+
			`"specifiedAs":{"bsonType":["double"]},"reason":"type did not match","consideredValue":3,"consideredType":"int"}]}]}]}`)
	must1[*mongo.InsertOneResult](t)(db.Collection("students").InsertOne(ctx, student(3.0)))
}

// TestManualLevels is the example of core/schema-validation/specify-validation-level.
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
