package modeltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mongosh"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
)

// WantIndexed fails the test if the index with this name doesn't serve the query. The
// server's plan must read a limited range of the index, and no whole collection. A sort
// in memory is allowed.
//
// Store enough documents to make plans differ. Pass a [model.Write], a command (bson.D),
// or a value with a method Command() bson.D, such as [model.Find].
//
//	modeltest.WantIndexed(t, db, uses.ParentsOf("AAAA"), "parts_1") // a childrefs.ChildRefs
//
// A plan with another index also passes, if it reads no more and adds no sort.
//
// If db has a [model.Scope], the query itself must limit the range.
//
// On DocumentDB, any command except find, aggregate and count skips the rest of the test.
// Call WantIndexed last.
func WantIndexed(t testing.TB, db model.DB, query any, index string) {
	t.Helper()
	database, command, fields, err := explained(db, query)
	if err != nil {
		t.Errorf("indexed: %v", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	reply, err := database.RunCommand(ctx, bson.D{
		{Key: "explain", Value: command}, {Key: "verbosity", Value: "queryPlanner"},
	}).Raw()
	if err != nil {
		var failure mongo.ServerError
		if testserver.IsOnServer(t) && errors.As(err, &failure) && failure.HasErrorCode(notImplemented) {
			t.Skip(testserver.Lacks + "explain of " + command[0].Key)
		}
		t.Errorf("indexed: explain: %v", err)
		return
	}
	plan := readPlan(reply, fields)
	problem := plan.problem(index)
	if problem != "" && plan.served() {
		problem = compare(ctx, database, command, fields, index, problem)
	}
	if problem != "" {
		t.Errorf("indexed: %s: %s\n%v%s", mongosh.Shorten(model.Shell(command), 400), problem, planOf(reply),
			diagnosis(ctx, database, command, plan))
	}
}

// diagnosis describes what the server examines for a query, and a useful index.
func diagnosis(ctx context.Context, db *mongo.Database, command bson.D, plan *queryPlan) string {
	var text string
	if reply, err := execute(ctx, db, command); err == nil {
		text = strings.Replace(examinedText(reply), "; ", "\n", 1)
	}
	raw, err := bson.Marshal(command)
	if err != nil {
		return text
	}
	var plain bson.D // with the values that filters have when sent
	if err := bson.Unmarshal(raw, &plain); err != nil {
		return text
	}
	return text + suggestion(ctx, db, newCommand(db.Name(), raw).Collection, plain, plan, "\n")
}

// notImplemented is DocumentDB's code for a command that it can't explain.
const notImplemented = 238

// explained returns the driver's database, a query as the command for explain under the
// scopes of db, and the fields that the scopes add.
func explained(db model.DB, query any) (database *mongo.Database, command bson.D, fields []string, err error) {
	if err := core.CheckDB(db); err != nil {
		return nil, nil, nil, err
	}
	if h, is := db.(core.Handle); is {
		var ok bool
		if query, fields, ok = h.UnderScopes(query); !ok {
			return nil, nil, nil, fmt.Errorf("a scope can't be applied to a %T: pass a query or a write of package model", query)
		}
	}
	command, err = explainable(query)
	return core.Database(db), command, fields, err
}

// explainable returns a query as the command for explain.
func explainable(query any) (bson.D, error) {
	var command bson.D
	switch q := query.(type) {
	case bson.D:
		command = q
	case model.Write:
		return explainableWrite(q)
	case interface{ Command() bson.D }:
		if err := refusal(q); err != nil {
			return nil, err
		}
		command = q.Command()
	default:
		return nil, fmt.Errorf("a %T has no command to explain", query)
	}
	if len(command) == 0 {
		return nil, errors.New("the command is empty")
	}
	return command, nil
}

// refusal returns the field Err of a query of package model.
func refusal(q any) error {
	v := reflect.Indirect(reflect.ValueOf(q))
	if v.Kind() != reflect.Struct {
		return nil
	}
	if f := v.FieldByName("Err"); f.IsValid() && f.CanInterface() {
		err, _ := f.Interface().(error)
		return err
	}
	return nil
}

func explainableWrite(w model.Write) (bson.D, error) {
	if w.Err != nil {
		return nil, w.Err
	}
	if core.IsNilModel(w.Model) {
		return nil, errors.New("a write without a model looks nothing up")
	}
	s := &statement{}
	name, list := "update", "updates"
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		s.update(m.Filter, m.Update, false, m.Upsert, m.Collation, m.Hint)
		s.add("arrayFilters", bson.A(m.ArrayFilters), len(m.ArrayFilters) > 0)
	case *mongo.UpdateManyModel:
		s.update(m.Filter, m.Update, true, m.Upsert, m.Collation, m.Hint)
		s.add("arrayFilters", bson.A(m.ArrayFilters), len(m.ArrayFilters) > 0)
	case *mongo.ReplaceOneModel:
		s.update(m.Filter, m.Replacement, false, m.Upsert, m.Collation, m.Hint)
	case *mongo.DeleteOneModel:
		name, list = "delete", "deletes"
		s.delete(m.Filter, 1, m.Collation, m.Hint)
	case *mongo.DeleteManyModel:
		name, list = "delete", "deletes"
		s.delete(m.Filter, 0, m.Collation, m.Hint)
	default:
		return nil, fmt.Errorf("a write of %T looks nothing up", w.Model)
	}
	return bson.D{{Key: name, Value: w.Collection}, {Key: list, Value: bson.A{s.d}}}, nil
}
