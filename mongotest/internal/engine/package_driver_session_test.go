// These calls are a table of TestDriver, which tests the whole engine by the Go driver.

package engine_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// session starts a session that ends with the test.
func session(t *testing.T, c *mongo.Collection) (*mongo.Session, context.Context) {
	t.Helper()
	s := must1[*mongo.Session](t)(c.Database().Client().StartSession())
	t.Cleanup(func() { s.EndSession(ctx) })
	return s, mongo.NewSessionContext(ctx, s)
}

var driverSession = map[string]driverTest{
	"Session.ID": func(t *testing.T, c *mongo.Collection) {
		s, _ := session(t, c)
		if _, id, ok := s.ID().Lookup("id").BinaryOK(); !ok || len(id) != 16 {
			t.Errorf("the id is %v", s.ID())
		}
	},
	"Session.EndSession": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, s.StartTransaction())
		must(t, set(in, c, 1, 10))
		s.EndSession(ctx)
		must(t, set(ctx, c, 1, 11)) // nothing holds it any more
		wantSame(t, "stored", readStored(t, c), []int{11, 2, 3})
	},
	"Session.WithTransaction": func(t *testing.T, c *mongo.Collection) {
		s, _ := session(t, c)
		move := func(fail error) error {
			_, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
				if err := set(ctx, c, 1, 10); err != nil {
					return nil, err
				}
				return nil, fail
			})
			return err
		}
		wantSame(t, "what failed", move(errBoom), errBoom)
		wantSame(t, "stored", readStored(t, c), []int{1, 2, 3})
		must(t, move(nil))
		wantSame(t, "stored", readStored(t, c), []int{10, 2, 3})
	},
	"Session.StartTransaction": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t,
			s.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()).
				SetWriteConcern(writeconcern.Majority())))
		must(t, set(ctx, c, 1, 10))
		must(t, c.FindOne(in, bson.D{{Key: "n", Value: 10}}).Err()) // the first command takes the snapshot
		must(t, set(ctx, c, 2, 20))
		wantSame(t, "what came later", c.FindOne(in, bson.D{{Key: "n", Value: 20}}).Err(), mongo.ErrNoDocuments)
	},
	"Session.AbortTransaction": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, s.StartTransaction())
		must(t, set(in, c, 1, 10))
		must(t, s.AbortTransaction(ctx))
		wantSame(t, "stored", readStored(t, c), []int{1, 2, 3})
	},
	"Session.CommitTransaction": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, s.StartTransaction())
		must(t, set(in, c, 1, 10))
		wantSame(t, "before", readStored(t, c), []int{1, 2, 3})
		must(t, s.CommitTransaction(ctx))
		must(t, s.CommitTransaction(ctx))
		wantSame(t, "after", readStored(t, c), []int{10, 2, 3})
	},
	"Session.ClusterTime": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, set(in, c, 1, 10))
		if _, _, ok := s.ClusterTime().Lookup("$clusterTime", "clusterTime").TimestampOK(); !ok {
			t.Errorf("the cluster time is %v", s.ClusterTime())
		}
	},
	"Session.SnapshotTime": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, c.FindOne(in, bson.D{}).Err())
		wantSame(t, "the time of no snapshot", s.SnapshotTime(), bson.Timestamp{})
	},
	"Session.AdvanceClusterTime": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, set(in, c, 1, 10))
		other, _ := session(t, c)
		must(t, other.AdvanceClusterTime(s.ClusterTime()))
		wantSame(t, "time", other.ClusterTime(), s.ClusterTime())
	},
	"Session.OperationTime": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, set(in, c, 1, 10))
		first := *s.OperationTime()
		must(t, set(in, c, 1, 11))
		if !first.Before(*s.OperationTime()) || first.T < uint32(time.Now().Add(-time.Hour).Unix()) {
			t.Errorf("times %v, %v", first, s.OperationTime())
		}
	},
	"Session.AdvanceOperationTime": func(t *testing.T, c *mongo.Collection) {
		s, in := session(t, c)
		must(t, set(in, c, 1, 10))
		other, otherCtx := session(t, c)
		must(t, other.AdvanceOperationTime(s.OperationTime()))
		// A causally consistent read: afterClusterTime.
		must(t, c.FindOne(otherCtx, bson.D{{Key: "n", Value: 10}}).Err())
	},
	"Session.Client": func(t *testing.T, c *mongo.Collection) {
		s, _ := session(t, c)
		must(t, s.Client().Ping(ctx, nil))
	},
	"Session.TransactionRunning": func(t *testing.T, c *mongo.Collection) {
		s, _ := session(t, c)
		must(t, s.StartTransaction())
		wantSame(t, "running", s.TransactionRunning(), true)
		must(t, s.AbortTransaction(ctx))
		wantSame(t, "after its end", s.TransactionRunning(), false)
	},
}
