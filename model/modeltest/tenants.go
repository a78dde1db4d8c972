package modeltest

import (
	"bytes"
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// With DOCMODEL_TENANT set, the library runs everything under one tenant's scope, and an
// engine also stores equal documents of another tenant. Tests are unchanged: documents
// that a test stores get the tenant, and reads of a test return only the tenant's
// documents, without the scope's fields. Commands of the library aren't changed. At the
// test's end, the other tenant's documents must be unchanged.
type tenants struct {
	server   testserver.Server
	mu       sync.Mutex
	others   map[string]map[string]bson.Raw // the other tenant's documents, by namespace and _id
	cursors  map[int64]bool                 // of the test's own reads
	problems []string
}

const (
	tenantField  = "tenantOf"
	changedField = "changedAt"
	deletedField = "goneAt"
)

func init() {
	if !tenancy.On {
		return
	}
	var now atomic.Int64 // a retry comes later than the first run
	core.Everywhere = func(db *mongo.Database) core.Handle {
		return model.Scope{
			Tenant: bson.D{{Key: tenantField, Value: "mine"}},
			Set:    bson.D{{Key: changedField, Value: now.Add(1)}},
			Delete: bson.D{{Key: deletedField, Value: int64(7)}},
		}.On(core.TestHandle(db)).(core.Handle)
	}
	testserver.NewCompanion = func(s testserver.Server) testserver.Companion {
		return &tenants{server: s, others: map[string]map[string]bson.Raw{}, cursors: map[int64]bool{}}
	}
}

// Handle handles each command.
func (s *tenants) Handle(x testserver.Exchange) error {
	cmd := newCommand(x.Command())
	switch cmd.Database {
	case "admin", "config", "local":
		return x.Forward()
	}
	if x.IsUnacknowledged() || keptForItself(cmd.Collection) {
		return x.Forward()
	}
	by := caller()
	switch {
	case by == "":
		return x.Forward()
	case by == "test":
		return s.doOfTest(x, cmd)
	}
	if cmd.Name == "createIndexes" {
		return s.doOfTest(x, cmd)
	}
	if scoped[cmd.Name] && !bytes.Contains(cmd.Body, []byte(tenantField+"\x00")) {
		s.problem("%s sends without the tenant: %s\n%s", by, cmd, debug.Stack())
	}
	return s.exchange(x, nil, cmd, func(reply bson.D) bson.D { return reply })
}

// scoped are the commands that must filter by the tenant.
var scoped = map[string]bool{
	"find": true, "aggregate": true, "count": true, "distinct": true, "insert": true, "update": true, "delete": true,
	"findAndModify": true, "bulkWrite": true,
}

// keptForItself reports whether a collection is the library's own, for locks and
// checkpoints, by its name in tests.
func keptForItself(collection string) bool {
	for _, name := range []string{"locks", "jobs", "checkpoints"} {
		if strings.HasSuffix(collection, name) {
			return true
		}
	}
	return false
}

func (s *tenants) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

const project = "github.com/docmodel/docmodel/"

// caller returns who sends a command: "test", a function of the library, or "" for the
// driver itself.
func caller() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	driver := false
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "go.mongodb.org/mongo-driver/"):
			driver = true
		case driver && strings.HasPrefix(f.Function, project):
			if strings.HasSuffix(f.File, "_test.go") || isOfTests(strings.TrimPrefix(f.Function, project)) {
				return "test"
			}
			return strings.TrimPrefix(f.Function, project)
		}
		if !more {
			return ""
		}
	}
}

// isOfTests reports whether a function of this module, by its name without the module's
// path, is part of the tests: of a package of internal or mongotest, or of one whose name
// ends with "test".
func isOfTests(function string) bool {
	name, _, _ := strings.Cut(path.Base(function), ".")
	return strings.HasPrefix(function, "internal/") || strings.HasPrefix(function, "mongotest/") ||
		strings.HasSuffix(name, "test")
}

// exchange sends a body, or the command itself, and then stores the other tenant's
// documents.
func (s *tenants) exchange(
	x testserver.Exchange, body bson.Raw, cmd mongotest.Command, change func(bson.D) bson.D,
) error {
	answer, err := x.Send(body)
	if err != nil {
		return err
	}
	if _, err := cmd.Body.LookupErr("autocommit"); err != nil {
		if err := s.storeOthers(x, cmd, answer); err != nil {
			return err
		}
	}
	var reply bson.D
	if err := bson.Unmarshal(answer, &reply); err != nil {
		return err
	}
	return x.Answer(change(reply))
}

// doOfTest restricts a command of the test to the tenant's documents.
func (s *tenants) doOfTest(x testserver.Exchange, cmd mongotest.Command) error {
	var body bson.D
	if err := bson.Unmarshal(cmd.Body, &body); err != nil {
		return err
	}
	switch cmd.Name {
	case "getMore":
		id, _ := cmd.Body.Lookup("getMore").AsInt64OK()
		s.mu.Lock()
		ours := s.cursors[id]
		s.mu.Unlock()
		if !ours {
			return x.Forward()
		}
	case "drop", "dropDatabase":
		s.forget(cmd)
		return x.Forward()
	case "explain":
		if inner, ok := body[0].Value.(bson.D); ok {
			body[0].Value = ownCommand(inner)
		}
	case "createIndexes":
		// the other tenant's equal values would violate a unique index
		if body = ownIndexes(body); bytes.Contains(cmd.Body, []byte("unique\x00")) {
			if err := s.removeOthers(x, cmd); err != nil {
				return err
			}
		}
	default:
		if !scoped[cmd.Name] {
			return x.Forward()
		}
		body = ownCommand(body)
	}
	doc, err := bson.Marshal(body)
	if err != nil {
		return err
	}
	cmd.Body = doc
	return s.exchange(x, doc, cmd, s.shown)
}

// shown returns the answer for a test, without the scope's fields.
func (s *tenants) shown(reply bson.D) bson.D {
	for i, e := range reply {
		v, ok := e.Value.(bson.D)
		if !ok {
			continue
		}
		switch e.Key {
		case "value":
			reply[i].Value = plain(v)
		case "cursor":
			for j, part := range v {
				switch part.Key {
				case "firstBatch", "nextBatch":
					v[j].Value = eachOf(part.Value, plain)
				case "id":
					s.mu.Lock()
					s.cursors[part.Value.(int64)] = true
					s.mu.Unlock()
				}
			}
		}
	}
	return reply
}

func plain(doc bson.D) bson.D {
	for i, e := range doc {
		if id, ok := splitKeyID(e.Value); ok && e.Key == "_id" {
			doc[i].Value = id
		}
	}
	return slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool {
		return e.Key == tenantField || e.Key == changedField || e.Key == deletedField
	})
}
