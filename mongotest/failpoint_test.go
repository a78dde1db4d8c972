package mongotest_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// TestFailPointBesideFaults lets one insert fail on both sides: the client's faults see each command that the driver
// sends, and the server's fail point counts those that arrive.
func TestFailPointBesideFaults(t *testing.T) {
	for _, c := range []struct {
		reason string
		data   bson.D
		faults *mongotest.Faults
		sent   int
		check  func(error) bool
		stored int64
	}{
		{"the cut insert is sent again, and fails in the server", bson.D{{Key: "errorCode", Value: 11}},
			mongotest.NewFaults().On(mongotest.Named("insert"), 1, mongotest.CutBefore()), 2, func(err error) bool {
				var e mongo.ServerError
				return errors.As(err, &e) && e.HasErrorCode(11)
			}, 0},
		{
			reason: "the insert whose connection the server closed is sent again",
			data:   bson.D{{Key: "closeConnection", Value: true}}, faults: mongotest.NewFaults(), sent: 2,

			check: func(err error) bool { return err == nil }, stored: 2,
		},
		{"the insert that may be sent again fails in the client the second time", bson.D{{Key: "errorCode", Value: 91}},
			mongotest.NewFaults().On(mongotest.Named("insert"), 2, mongotest.CutAfter()), 2, mongo.IsNetworkError, 2},
	} {
		t.Run(c.reason, func(t *testing.T) {
			client := mongotest.NewClient(t, mongotest.WithFaults(c.faults))
			data := append(bson.D{{Key: "failCommands", Value: bson.A{"insert"}}}, c.data...)
			if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "configureFailPoint", Value: "failCommand"},
				{Key: "mode", Value: bson.D{{Key: "times", Value: 1}}}, {Key: "data", Value: data}}).Err(); err != nil {
				t.Fatal(err)
			}
			if err := insert(t.Context(), client.Database("test"), 1, 2); !c.check(err) {
				t.Error(err)
			}
			if n := c.faults.Count(mongotest.Named("insert")); n != c.sent {
				t.Errorf("sent %d times, want %d", n, c.sent)
			}
			if n := count(t, client.Database("test"), nil); n != c.stored {
				t.Errorf("%d stored, want %d", n, c.stored)
			}
		})
	}
}
