// These tests call every exported method of the Go driver on the whole engine. The tables of calls are in the files
// package_driver_*_test.go, one for each type of the driver.

package engine_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
)

// driverTypes are the types of the driver whose every exported method has a test here, by what follows "driver" in the
// names of the tables, or is named as refused. Left out is ClientEncryption: it encrypts in the client, by a library in
// C.
var driverTypes = []reflect.Type{
	reflect.TypeFor[*mongo.Client](),
	reflect.TypeFor[*mongo.Database](),
	reflect.TypeFor[*mongo.Collection](),
	reflect.TypeFor[*mongo.Session](),
	reflect.TypeFor[mongo.IndexView](),
	reflect.TypeFor[mongo.SearchIndexView](),
	reflect.TypeFor[*mongo.Cursor](),
	reflect.TypeFor[*mongo.ChangeStream](),
	reflect.TypeFor[*mongo.SingleResult](),
}

// driverTest uses the method that it is named after, on a collection of a fresh engine that holds {_id: n, n: n} for n
// from 1 to 3.
type driverTest = func(t *testing.T, c *mongo.Collection)

// driverTests are the tables of the files package_driver_*_test.go together.
func driverTests() map[string]driverTest {
	all := map[string]driverTest{}
	for _, table := range []map[string]driverTest{
		driverClient, driverDatabase, driverCollection, driverSession, driverIndexView, driverCursor,
		driverChangeStream, driverSingleResult,
	} {
		maps.Copy(all, table)
	}
	return all
}

// driverRefused are the methods that need what the engine doesn't have. Each must fail with an error of the code.
var driverRefused = map[string]struct {
	reason string
	code   int32
	call   func(c *mongo.Collection) error
}{
	"SearchIndexView.List": {"search indexes are Atlas's", 238, func(c *mongo.Collection) error {
		_, err := c.SearchIndexes().List(ctx, nil)
		return err
	}},
	"SearchIndexView.CreateOne": {"search indexes are Atlas's", 115, func(c *mongo.Collection) error {
		_, err := c.SearchIndexes().CreateOne(ctx, mongo.SearchIndexModel{Definition: bson.D{}})
		return err
	}},
	"SearchIndexView.CreateMany": {"search indexes are Atlas's", 115, func(c *mongo.Collection) error {
		_, err := c.SearchIndexes().CreateMany(ctx, []mongo.SearchIndexModel{{Definition: bson.D{}}})
		return err
	}},
	"SearchIndexView.UpdateOne": {"search indexes are Atlas's", 115, func(c *mongo.Collection) error {
		return c.SearchIndexes().UpdateOne(ctx, "x", bson.D{})
	}},
	"SearchIndexView.DropOne": {"search indexes are Atlas's", 115, func(c *mongo.Collection) error {
		return c.SearchIndexes().DropOne(ctx, "x")
	}},
}

// TestDriver runs a test for each method of the driver.
func TestDriver(t *testing.T) {
	for name, test := range driverTests() {
		t.Run(name, func(t *testing.T) {
			c := collection(t)
			insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
			test(t, c)
		})
	}
	for name, x := range driverRefused {
		t.Run(name, func(t *testing.T) {
			err := x.call(collection(t))
			var raw driver.Error // some methods don't make it one of package mongo's
			if errors.As(err, &raw) && raw.Code == x.code {
				return
			}
			wantCode(t, x.reason, err, int(x.code))
		})
	}
}

// TestDriverMethods holds that each exported method is tested or refused, and that each test calls what it is named
// after.
func TestDriverMethods(t *testing.T) {
	tests, calls := driverTests(), driverCalls(t)
	known := map[string]bool{}
	for _, typ := range driverTypes {
		name := strings.TrimPrefix(strings.TrimPrefix(typ.String(), "*"), "mongo.")
		for i := range typ.NumMethod() {
			method := name + "." + typ.Method(i).Name
			known[method] = true
			_, refused := driverRefused[method]
			switch {
			case tests[method] == nil && !refused:
				t.Errorf("%s is neither tested nor refused", method)
			case !calls[method]:
				t.Errorf("the test of %s doesn't call it", method)
			}
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(tests)), slices.Collect(maps.Keys(driverRefused))) {
		if !known[name] {
			t.Errorf("%s is no method of the driver", name)
		}
	}
}

// driverCalls reads the tables' source: which entries call the method that is their key.
func driverCalls(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("package_driver*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, ok := pair.Key.(*ast.BasicLit)
			if !ok {
				return true
			}
			name, _ := strconv.Unquote(key.Value)
			_, method, ok := strings.Cut(name, ".")
			ast.Inspect(pair.Value, func(n ast.Node) bool {
				sel, isSelector := n.(*ast.SelectorExpr)
				calls[name] = calls[name] || ok && isSelector && sel.Sel.Name == method
				return true
			})
			return true
		})
	}
	return calls
}

var errBoom = errors.New("boom")
