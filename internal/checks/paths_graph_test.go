package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The labels of a host are the hosts that it talks to.
var (
	talks     = paths.NewGraph(busyHosts, "labels", paths.GraphSpec{States: "talks"})
	shouting  = paths.NewProgram(talks, shoutTo)
	groupings = talks.Components()
	ranking   = talks.PageRank()
)

// shoutTo tells every host's name to those that it talks to.
func shoutTo(v *paths.GraphVertex[busyHost, string, string, string]) error {
	for _, m := range v.Messages {
		v.State += m.From + m.M
	}
	for _, to := range v.Edges {
		v.Send(to, v.ID)
	}
	v.Halt()
	return nil
}

func init() { register(append(graphCases(), superstepCases()...)...) }

func graphCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "paths.Graph." + method, Reason: reason, Make: call}
	}
	return []Case{
		one("States", "all", func(string) any { return talks.States() }),
		one("State", "by _id", func(s string) any { return talks.State(s) }),
		one("Within", "nearest first", func(string) any { return talks.Within(3) }),
		one("Component", "by its least _id", func(s string) any { return talks.Component(s) }),
		one("Component", "an empty id is refused", func(string) any { return talks.Component("") }),
		one("Top", "ten", func(string) any { return talks.Top(10) }),
		one("Top", "none is refused", func(string) any { return talks.Top(0) }),
		one("Unreached", "vertices without a state", func(string) any { return talks.Unreached() }),
		one("Clear", "states, messages, records", func(string) any { return talks.Clear() }),
		one("Indexes", "none", func(string) any { return talks.Indexes() }),
	}
}

// recordOf is a record of the computation, with the hash by which its claim knows what it was asked.
func recordOf(s *paths.Supersteps, record paths.GraphStep) paths.GraphStep {
	claim := s.Begin().Steps[0].(model.Write).Model.(*mongo.UpdateOneModel).Filter.(bson.D)
	record.Kind, record.Asked = claim[1].Value.(string), claim[2].Value.(int64)
	return record
}

func superstepCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "paths.Supersteps." + method, Reason: reason, Make: call}
	}
	return []Case{
		one("Begin", "distances", func(s string) any { return talks.Distances(s, s+"2").Begin() }),
		one("Begin", "an empty source is refused", func(string) any { return talks.Distances("").Begin() }),
		one("Begin", "components", func(string) any { return groupings.Begin() }),
		one("Begin", "ranks", func(string) any { return ranking.Begin() }),
		one("Begin", "a program", func(string) any { return shouting.Begin() }),
		one("Step", "distances", func(s string) any {
			d := talks.Distances(s)
			return d.Step(recordOf(d, paths.GraphStep{Step: 3, Changed: 7}))
		}),
		one("Step", "the first ranks", func(string) any {
			return ranking.Step(recordOf(ranking, paths.GraphStep{Changed: 8, Vertices: 8, Dangling: 0.25}))
		}),
		one("Step", "further ranks", func(string) any {
			return ranking.Step(recordOf(ranking, paths.GraphStep{Step: 3, Changed: 8, Vertices: 8, Dangling: 0.25, Delta: 0.5}))
		}),
		one("Step", "ranks that went back are refused", func(string) any {
			return ranking.Step(recordOf(ranking, paths.GraphStep{Step: 3, Changed: 7, Vertices: 8, Delta: 0.5, Lost: 1}))
		}),
		one("Step", "components", func(string) any { return groupings.Step(paths.GraphStep{Step: 3, Kind: "components", Changed: 7}) }),
		one("Step", "components that are done", func(string) any { return groupings.Step(paths.GraphStep{Step: 3, Kind: "components"}) }),
		one("Step", "the record of another is refused", func(s string) any { return groupings.Step(paths.GraphStep{Step: 3, Kind: s}) }),
		one("Step", "the end of a program's", func(string) any { return shouting.Step(paths.GraphStep{Step: 3, Kind: "program", Sent: 7}) }),
		one("Vertices", "of ranks is refused", func(string) any { return ranking.Vertices(paths.GraphStep{Step: 3, Kind: "rank"}) }),
		one("Last", "the latest record", func(string) any { return ranking.Last() }),
		one("Steps", "all records", func(string) any { return ranking.Steps() }),
		one("Indexes", "of distances", func(s string) any { return talks.Distances(s).Indexes() }),
		one("Indexes", "of components", func(string) any { return groupings.Indexes() }),
		one("Indexes", "of ranks, none", func(string) any { return ranking.Indexes() }),
		one("Indexes", "of a program", func(string) any { return shouting.Indexes() }),
		{
			Method: "paths.Supersteps.Vertices", Reason: "one of them waits",
			Make: func(string) any { return shouting.Vertices(paths.GraphStep{Step: 3, Kind: "program", Sent: 7}) },
			State: func(s string) any {
				var out []bson.Raw
				for _, doc := range []bson.D{
					{{Key: "_id", Value: s}, {Key: "was", Value: bson.D{{Key: "value", Value: s}}},
						{Key: "vertex", Value: busyHost{ID: s, Labels: []string{s + "2", s}}},
						{Key: "inbox", Value: bson.A{bson.D{{Key: "_id", Value: bson.D{{Key: "s", Value: 4}, {Key: "t", Value: s}, {Key: "f", Value: s}}}, {Key: "m", Value: bson.A{s}}}}}},
					{{Key: "_id", Value: s + "2"}, {Key: "vertex", Value: nil}},
				} {
					raw, err := bson.Marshal(doc)
					if err != nil {
						panic(err)
					}
					out = append(out, raw)
				}
				return out
			},
		},
	}
}
