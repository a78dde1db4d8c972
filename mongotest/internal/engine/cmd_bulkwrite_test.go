package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// bulkReply is the answer of a bulkWrite command.
type bulkReply struct {
	Cursor struct {
		ID         int64
		NS         string
		FirstBatch []bson.D `bson:"firstBatch"`
	}
	Errors   int `bson:"nErrors"`
	Inserted int `bson:"nInserted"`
	Matched  int `bson:"nMatched"`
	Modified int `bson:"nModified"`
	Upserted int `bson:"nUpserted"`
	Deleted  int `bson:"nDeleted"`
}

func (r bulkReply) results(t testing.TB) string {
	var list []string
	for _, d := range r.Cursor.FirstBatch {
		list = append(list, show(t, d))
	}
	return strings.Join(list, " ")
}

func (r bulkReply) totals() string {
	return fmt.Sprintf("errors %d, inserted %d, matched %d, modified %d, upserted %d, deleted %d",
		r.Errors, r.Inserted, r.Matched, r.Modified, r.Upserted, r.Deleted)
}

// prices is _id:price of each document.
func prices(t testing.TB, c *mongo.Collection) []string {
	t.Helper()
	var docs []struct {
		ID    int `bson:"_id"`
		Price int
	}
	cur := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{}))
	must(t, cur.All(ctx, &docs))
	var list []string
	for _, d := range docs {
		list = append(list, fmt.Sprintf("%d:%d", d.ID, d.Price))
	}
	return list
}

func TestBulkWriteRefusals(t *testing.T) {
	client, _ := start(t)
	for reason, c := range map[string]struct {
		command string
		code    int
	}{
		"another database":       {`{"bulkWrite":1,"ops":[{"insert":0,"document":{}}],"nsInfo":[{"ns":"a.b"}]}`, 13},
		"no operations":          {`{"bulkWrite":1,"nsInfo":[{"ns":"a.b"}]}`, 40414},
		"an empty list of them":  {`{"bulkWrite":1,"ops":[],"nsInfo":[{"ns":"a.b"}]}`, 16},
		"no namespaces":          {`{"bulkWrite":1,"ops":[{"insert":0,"document":{}}]}`, 40414},
		"a namespace too far":    {`{"bulkWrite":1,"ops":[{"insert":1,"document":{}}],"nsInfo":[{"ns":"a.b"}]}`, 2},
		"a namespace of no name": {`{"bulkWrite":1,"ops":[{"insert":0,"document":{}}],"nsInfo":[{"ns":"a"}]}`, 73},
		"an unknown operation":   {`{"bulkWrite":1,"ops":[{"upsert":0}],"nsInfo":[{"ns":"a.b"}]}`, 2},
		"an unknown field": {
			command: `{"bulkWrite":1,"ops":[{"insert":0,"document":{},"foo":1}],"nsInfo":[{"ns":"a.b"}]}`,
			code:    40415,
		},
		"a field of another kind": {
			command: `{"bulkWrite":1,"ops":[{"delete":0,"filter":{},"upsert":true}],"nsInfo":[{"ns":"a.b"}]}`,
			code:    40415,
		},
		"no filter": {`{"bulkWrite":1,"ops":[{"update":0,"updateMods":{}}],"nsInfo":[{"ns":"a.b"}]}`, 40414},
		"an unknown one of nsInfo": {
			command: `{"bulkWrite":1,"ops":[{"insert":0,"document":{}}],"nsInfo":[{"ns":"a.b","collectionUUID":1}]}`,
			code:    40415,
		},
		"a collation": {
			command: `{"bulkWrite":1,"ops":[{"delete":0,"filter":{},"collation":{"locale":"ja"}}],` +
				`"nsInfo":[{"ns":"a.b"}]}`,
			code: 238,
		},
	} {
		db := "admin"
		if reason == "another database" {
			db = "test"
		}
		var reply bulkReply
		err := client.Database(db).RunCommand(ctx, doc(t, c.command)).Decode(&reply)
		if err == nil && len(reply.Cursor.FirstBatch) == 1 { // it is the operation's own error
			code, _ := bson.Raw(must1[[]byte](t)(bson.Marshal(reply.Cursor.FirstBatch[0]))).Lookup("code").AsInt64OK()
			wantSame(t, reason, code, c.code)
			continue
		}
		wantCode(t, reason, err, c.code)
	}
	wantSame(t, "nothing is written", must1[[]string](t)(client.ListDatabaseNames(ctx, bson.D{})), []string{})
}

// clientWrites are operations of each kind.
func clientWrites() []mongo.ClientBulkWrite {
	at := func(coll string, m mongo.ClientWriteModel) mongo.ClientBulkWrite {
		return mongo.ClientBulkWrite{Database: "test", Collection: coll, Model: m}
	}
	over := bson.D{{Key: "$expr", Value: bson.D{{Key: "$gte", Value: bson.A{"$n", "$$from"}}}}}
	return []mongo.ClientBulkWrite{
		at("things", mongo.NewClientInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: 4}, {Key: "n", Value: 4}})),
		at("things",
			mongo.NewClientUpdateOneModel().SetFilter(bson.D{}).SetUpdate(setN(40)).
				SetSort(bson.D{{Key: "n", Value: -1}})),
		at("things",
			mongo.NewClientUpdateManyModel().SetFilter(over).
				SetUpdate(mongo.Pipeline{bson.D{{Key: "$set", Value: bson.D{{Key: "m", Value: "$$from"}}}}})),
		at("other",
			mongo.NewClientReplaceOneModel().SetFilter(byID(1)).
				SetReplacement(bson.D{{Key: "n", Value: 1}}).SetUpsert(true)),
		at("things", mongo.NewClientDeleteOneModel().SetFilter(byID(1)).SetHint("_id_")),
		at("things", mongo.NewClientDeleteManyModel().SetFilter(byID(99))),
	}
}

// TestClientBulkWrite goes through the driver: every kind of model, results of each, errors, and a transaction.
func TestClientBulkWrite(t *testing.T) {
	c := collection(t)
	client := c.Database().Client()
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
	let := options.ClientBulkWrite().SetLet(bson.D{{Key: "from", Value: 3}})
	r := must1[*mongo.ClientBulkWriteResult](t)(client.BulkWrite(ctx, clientWrites(), let,
		options.ClientBulkWrite().SetVerboseResults(true)))
	wantSame(t, "counts",
		[]int64{r.InsertedCount, r.MatchedCount, r.ModifiedCount, r.UpsertedCount, r.DeletedCount}, "[1 3 3 1 1]")
	wantSame(t, "inserts", r.InsertResults, "map[0:{4}]")
	wantSame(t, "updates", r.UpdateResults, "map[1:{1 1 <nil>} 2:{2 2 <nil>} 3:{1 0 1}]")
	wantSame(t, "deletes", r.DeleteResults, "map[4:{1} 5:{0}]")
	wantAll(t, c, `{"_id":2,"n":2}`, `{"_id":3,"n":3,"m":3}`, `{"_id":4,"n":40,"m":3}`)

	writes := append(clientWrites(), mongo.ClientBulkWrite{Database: "test", Collection: "things",
		Model: mongo.NewClientDeleteOneModel().SetFilter(byID(2))})
	_, err := client.BulkWrite(ctx, writes, let)
	var e mongo.ClientBulkWriteException
	if !errors.As(err, &e) || len(e.WriteErrors) != 1 || e.WriteErrors[0].Code != 11000 {
		t.Errorf("again: %v", err)
	}
	wantAll(t, c.Database().Collection("other"), `{"_id":1,"n":1}`)
	// what came after the error wasn't done
	wantAll(t, c, `{"_id":2,"n":2}`, `{"_id":3,"n":3,"m":3}`, `{"_id":4,"n":40,"m":3}`)
	_, err = client.BulkWrite(ctx, clientWrites(), let, options.ClientBulkWrite().SetOrdered(false))
	if !errors.As(err, &e) || len(e.WriteErrors) != 1 || e.PartialResult == nil || e.PartialResult.MatchedCount != 4 {
		t.Errorf("again, in any order: %v, %+v", err, e.PartialResult)
	}
}

func TestClientBulkWriteInTransaction(t *testing.T) {
	c := collection(t)
	client := c.Database().Client()
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	let := options.ClientBulkWrite().SetLet(bson.D{{Key: "from", Value: 3}})
	s, tx := begin(t, c)
	must1[*mongo.ClientBulkWriteResult](t)(client.BulkWrite(tx, clientWrites(), let))
	wantSame(t, "before the commit", readStored(t, c), []int{1, 2})
	must(t, s.CommitTransaction(ctx))
	wantSame(t, "after it", readStored(t, c), []int{2, 40})

	s, tx = begin(t, c)
	must(t, set(tx, c, 2, 20))
	if _, err := client.BulkWrite(tx, clientWrites(), let); err == nil { // 4 is there
		t.Error("a duplicate key was inserted")
	}
	wantTransient(t, "what failed is aborted", s.CommitTransaction(ctx), 251)
	wantSame(t, "stored", readStored(t, c), []int{2, 40})
}

// TestClientBulkWriteLarge needs a getMore for the results of the bulk, and several commands.
func TestClientBulkWriteLarge(t *testing.T) {
	c := collection(t)
	const n = 1000
	writes := make([]mongo.ClientBulkWrite, n)
	for i := range writes {
		writes[i] = mongo.ClientBulkWrite{
			Database: "test", Collection: "things",
			Model: mongo.NewClientInsertOneModel().SetDocument(byID(i)),
		}
	}
	r := must1[*mongo.ClientBulkWriteResult](t)(c.Database().Client().
		BulkWrite(ctx, writes, options.ClientBulkWrite().SetVerboseResults(true)))
	wantSame(t, "inserted", []int{int(r.InsertedCount), len(r.InsertResults), len(readStored(t, c))}, []int{n, n, n})
	var reply bulkReply
	command :=
		`{"bulkWrite":1,"errorsOnly":true,"nsInfo":[{"ns":"test.things"}],"ops":[{"delete":0,"filter":{},` +
			`"multi":true},{"insert":0,"document":{"_id":[]}}]}`
	must(t, c.Database().Client().Database("admin").RunCommand(ctx, doc(t, command)).Decode(&reply))
	wantSame(t, "totals", reply.totals(), "errors 1, inserted 0, matched 0, modified 0, upserted 0, deleted 1000")
	wantSame(t, "results", len(reply.Cursor.FirstBatch), 1)
}

// pizzas stores the collections of the page https://www.mongodb.com/docs/manual/reference/command/bulkWrite/.
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

// TestManualBulkWrite runs the examples of the manual's page reference/command/bulkWrite. The page was written for 7.2,
// which has numErrors; since 7.3 it is nErrors, with the totals beside it.
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
			`{"ok":1.0,"idx":0,"n":1} {"ok":1.0,"idx":1,"n":1} {"ok":1.0,"idx":2,"n":1,"nModified":1} {"ok":1.0,` +
				`"idx":3,"n":1} ` +
				`{"ok":1.0,"idx":4,"n":1} {"ok":1.0,"idx":5,"n":1} {"ok":1.0,"idx":6,"n":1,"nModified":1} {"ok":1.0,` +
				`"idx":7,"n":1} ` +
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
		wantSame(t, c.name+": results", reply.results(t), c.results)
		wantSame(t, c.name+": totals", reply.totals(), c.totals)
		wantSame(t, c.name+": pizzas", prices(t, db.Collection("pizzas")), c.pizzas)
		var orders []int
		must(t, db.Collection("pizzaOrders").Distinct(ctx, "_id", bson.D{}).Decode(&orders))
		wantSame(t, c.name+": orders", orders, c.orders)
	}
}

func duplicatePizza(idx, id string) string {
	return `{"ok":0.0,"idx":` + idx +
		`,"code":11000,"errmsg":"E11000 duplicate key error collection: test.pizzas index: _id_ dup key: { _id: ` +
		id + ` }","keyPattern":{"_id":1},"keyValue":{"_id":` + id + `},"n":0} `
}
