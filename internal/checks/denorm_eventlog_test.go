package checks

import (
	"time"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What is kept as events: what happens to a parcel.
type (
	parcelEvent struct {
		What string `bson:"what"`
	}
	parcelState struct {
		Last string `bson:"last"`
		N    int64  `bson:"n"`
	}
	parcelStored = eventlog.State[string, parcelState]
	parcelSpec   = eventlog.Spec[string, parcelEvent, parcelState]
	viewSpec     = eventlog.ProjectionSpec[parcelState, parcelEvent]
)

var (
	parcelCommits = model.NewCollection[eventlog.Commit[string, parcelEvent], string]("parcels")
	parcelStates  = model.NewCollection[parcelStored, string]("states")
	parcels       = eventlog.New(parcelCommits, parcelSpec{Fold: parcelFold, MaxEvents: 10})
	keptParcels   = eventlog.New(parcelCommits, parcelSpec{
		Fold: parcelFold, Revision: 3, Snapshots: parcelStates, Every: 2,
	})
	parcelViews = eventlog.NewProjection(parcels, parcelStates.Named("shown"), viewSpec{Fold: parcelFold})
	polledViews = eventlog.NewProjection(parcels, parcelStates.Named("shown"), viewSpec{
		Fold: parcelFold, Revision: 1, Poll: time.Minute,
	})
)

func parcelFold(s parcelState, e parcelEvent) (parcelState, error) {
	return parcelState{e.What, s.N + 1}, nil
}

func init() {
	register(eventLogWrites()...)
	register(eventLogReads()...)
	register(projectionCases()...)
}

// parcelDocs are two commits of a key, with the tokens 1 and 2, and more.
func parcelDocs(more ...any) func(s string) testkit.Docs {
	return func(s string) testkit.Docs {
		commit := func(first, last int64, n int, events ...parcelEvent) any {
			return eventlog.Commit[string, parcelEvent]{
				ID: "b#000000000000000" + string(rune('0'+first)), Key: "b", First: first, Last: last, At: noon(0),
				Token: testkit.Token(n), Events: events,
			}
		}
		d := testkit.Docs{"parcels": {commit(1, 1, 1, parcelEvent{s}), commit(2, 3, 2, parcelEvent{"b"}, parcelEvent{s})}}
		if len(more) > 0 {
			d["docmodel.projections"] = more
		}
		return d
	}
}

func eventLogWrites() []Case {
	add := func(method, reason string, docs func(string) testkit.Docs, of func(s string) model.Change) Case {
		return Case{
			Method: "eventlog.EventLog." + method, Reason: reason, Make: func(s string) any { return of(s) },
			State: asRead(of, docs),
		}
	}
	none := func(string) testkit.Docs { return nil }
	one := func(s string) func(parcelStored) ([]parcelEvent, error) {
		return func(parcelStored) ([]parcelEvent, error) { return []parcelEvent{{s}}, nil }
	}
	return []Case{
		add("Append", "the first of a key", none, func(s string) model.Change {
			return parcels.Append(s, 0, noon(0), []parcelEvent{{s}, {"b"}}, testkit.Token(3))
		}),
		add("Append", "the next", parcelDocs(), func(s string) model.Change {
			return keptParcels.Append("b", 3, noon(0), []parcelEvent{{s}}, testkit.Token(3))
		}),
		add("Append", "again: nothing is sent", parcelDocs(), func(s string) model.Change {
			return parcels.Append("b", 0, noon(0), []parcelEvent{{s}}, testkit.Token(1))
		}),
		{
			Method: "eventlog.EventLog.Append", Reason: "the caller's events are copied",
			From: func(s string) ([]any, func() any) {
				list := roomy([]parcelEvent{{s}, {"b"}})
				return []any{list}, func() any { return parcels.Append(s, 0, noon(0), list, testkit.Token(3)) }
			},
			State: asRead(func(s string) model.Change {
				return parcels.Append(s, 0, noon(0), []parcelEvent{{s}}, testkit.Token(3))
			}, none),
		},
		add("Append", "no events are refused", none, func(s string) model.Change {
			return parcels.Append(s, 0, noon(0), nil, testkit.Token(3))
		}),
		add("Decide", "from the state", parcelDocs(), func(s string) model.Change {
			return keptParcels.Decide("b", noon(0), testkit.Token(3), one(s))
		}),
		add("Decide", "again: nothing is sent", parcelDocs(), func(s string) model.Change {
			return parcels.Decide("b", noon(0), testkit.Token(2), one(s))
		}),
		add("Decide", "no token is refused", none, func(s string) model.Change {
			return parcels.Decide(s, noon(0), bson.ObjectID{}, one(s))
		}),
		add("Refresh", "the snapshot", parcelDocs(), func(string) model.Change { return keptParcels.Refresh("b") }),
		add("Refresh", "without snapshots is refused", none, func(s string) model.Change { return parcels.Refresh(s) }),
	}
}

func eventLogReads() []Case {
	state := func(string) any { return parcelStored{} }
	read := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "eventlog.EventLog." + method, Reason: reason, Make: call, State: state}
	}
	return []Case{
		read("Load", "the newest state", func(s string) any { return keptParcels.Load(s) }),
		read("At", "a version", func(s string) any { return parcels.At(s, 3) }),
		read("AsOf", "a time", func(s string) any { return parcels.AsOf(s, noon(0)) }),
		{
			Method: "eventlog.EventLog.Version", Reason: "of a key",
			Make:  func(s string) any { return parcels.Version(s) },
			State: func(string) any { return int64(0) },
		},
		{Method: "eventlog.EventLog.Commits", Reason: "all", Make: func(s string) any { return parcels.Commits(s, 1, 0) }},
		{
			Method: "eventlog.EventLog.Commits", Reason: "of some events",
			Make: func(s string) any { return parcels.Commits(s, 12, 20) },
		},
		{Method: "eventlog.EventLog.Indexes", Reason: "of tokens", Make: func(string) any { return parcels.Indexes() }},
		{Method: "eventlog.EventLog.Checks", Reason: "commits", Make: func(string) any { return parcels.Checks()[0] }},
		{Method: "eventlog.EventLog.Checks", Reason: "snapshots", Make: func(string) any { return keptParcels.Checks()[1] }},
		{Method: "eventlog.EventLog.Checks", Reason: "wrong snapshots are deleted", From: func(s string) ([]any, func() any) {
			check := keptParcels.Checks()[1]
			raw, err := bson.Marshal(bson.D{
				{Key: "_id", Value: s}, {Key: "version", Value: int64(3)}, {Key: "revision", Value: 3},
			})
			if err != nil {
				panic(err)
			}
			found := roomy([]model.Finding{{Check: check.Name, Collection: check.Collection, Detail: raw}})
			return []any{found}, func() any { return check.Mend(found) }
		}},
	}
}

func projectionCases() []Case {
	change := func(method, reason string, docs func(string) testkit.Docs, of func(s string) model.Change) Case {
		return Case{
			Method: "eventlog.Projection." + method, Reason: reason, Make: func(s string) any { return of(s) },
			State: asRead(of, docs),
		}
	}
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "eventlog.Projection." + method, Reason: reason, Make: call}
	}
	building := bson.D{
		{Key: "_id", Value: "shown"}, {Key: "live", Value: int64(1)}, {Key: "liveRevision", Value: 0},
		{Key: "building", Value: int64(2)}, {Key: "buildingRevision", Value: 0}, {Key: "closing", Value: false},
		{Key: "last", Value: int64(2)},
	}
	return []Case{
		change("CatchUp", "the first of all", parcelDocs(), func(string) model.Change {
			return parcelViews.CatchUp("b")
		}),
		change("CatchUp", "while a generation is built", parcelDocs(building), func(string) model.Change {
			return parcelViews.CatchUp("b")
		}),
		change("CatchUp", "no key is refused", parcelDocs(), func(string) model.Change {
			return parcelViews.CatchUp("")
		}),
		change("Drop", "the generation that is built", parcelDocs(building), func(string) model.Change {
			return parcelViews.Drop(2)
		}),
		{
			Method: "eventlog.Projection.Load", Reason: "the live view",
			Make:  func(s string) any { return parcelViews.Load(s) },
			State: func(string) any { return parcelStored{} },
		},
		{
			Method: "eventlog.Projection.Generations", Reason: "the pointer",
			Make: func(string) any { return parcelViews.Generations() },

			State: func(string) any { return eventlog.Generations{} },
		},
		one("Stream", "by changes", func(string) any { return parcelViews.Stream() }),
		one("Stream", "or by polling", func(string) any { return polledViews.Stream() }),
		one("Rebuild", "a generation", func(string) any { return parcelViews.Rebuild() }),
		one("Switch", "to it", func(string) any { return parcelViews.Switch() }),
		one("Indexes", "to poll by", func(string) any { return polledViews.Indexes() }),
		one("Indexes", "none without Poll", func(string) any { return parcelViews.Indexes() }),
	}
}
