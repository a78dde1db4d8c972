package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// snapshot is the state that a command with the read concern "snapshot" reads, outside a transaction
// (https://www.mongodb.com/docs/manual/reference/read-concern-snapshot/). The reply says of which time it is, so that
// further commands can read the same.
type snapshot struct {
	asked bool           // the command has the read concern
	given bool           // the command gives the time, by atClusterTime
	at    bson.Timestamp // the time of the snapshot: given, or set with state
	state *store.State   // nil until openSnapshot, and for other commands
}

// snapshotReads are the commands that can read a snapshot.
var snapshotReads = []string{"find", "aggregate", "distinct"}

// readSnapshot reads a read concern of the level snapshot. In a transaction it changes nothing: the transaction has its
// snapshot.
func (r *request) readSnapshot(a, concern *args.Reader) {
	v, given := concern.Get("atClusterTime")
	at, ok := v.(bson.Timestamp)
	switch {
	case given && !ok:
		concern.RefuseType("atClusterTime", v, "timestamp")
	case given && at.IsZero():
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "readConcern.atClusterTime cannot be a null timestamp"))
	case given && concern.HasField("afterClusterTime"):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"readConcern.atClusterTime cannot be set together with readConcern.afterClusterTime"))
	case r.autocommit && given:
		a.Fail(mongoerr.New(mongoerr.NotImplemented, "readConcern.atClusterTime is not supported in transactions"))
	case r.command.name == "getMore": // the driver sends it, and the cursor has its snapshot
		return
	case !r.autocommit && !slices.Contains(snapshotReads, r.command.name):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"Command %s does not support { readConcern: { level: \"snapshot\", provenance: \"clientSupplied\" } } :: "+
				"caused by :: read concern not supported", r.name))
	}
	if !r.autocommit {
		r.snapshot = snapshot{asked: true, given: given, at: at}
	}
}

// openSnapshot finds the state that the command reads, if it asks for a snapshot. Without a given time it is the latest
// state, which the store then keeps for 300 seconds. A given time whose state is gone is the error SnapshotTooOld
// (239).
func (r *request) openSnapshot() (err error) {
	s, st := &r.snapshot, r.engine.store
	switch {
	case !s.asked:
	case s.given:
		s.state, err = st.FindState(s.at)
	default:
		s.at, s.state = st.Pin()
	}
	return err
}

// time returns the time that the reply shows as atClusterTime, nil without a snapshot.
func (s *snapshot) time() *bson.Timestamp {
	if s.state == nil {
		return nil
	}
	return &s.at
}
