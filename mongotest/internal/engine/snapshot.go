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
	asked bool
	given bool           // by atClusterTime
	at    bson.Timestamp // once state is set
	state *store.State
}

// snapshotReads are the commands that can read a snapshot.
var snapshotReads = []string{"find", "aggregate", "distinct"}

// readSnapshot reads a read concern of the level snapshot.
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

// openSnapshot finds the state that the command reads, if it asks for a snapshot.
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

// time is what the reply says of the snapshot's time, nil without one.
func (s *snapshot) time() *bson.Timestamp {
	if s.state == nil {
		return nil
	}
	return &s.at
}
