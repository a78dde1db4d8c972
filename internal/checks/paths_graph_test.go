package checks

import "github.com/docmodel/docmodel/paths"

// The labels of a host are the hosts that it talks to.
var (
	talks     = paths.NewGraph(busyHosts, "labels", paths.GraphSpec{States: "talks"})
	shouting  = paths.NewProgram(talks, shoutTo)
	groupings = talks.Components()
	ranking   = talks.PageRank(paths.RankSpec{})
)

// shoutTo tells every host's name to those that it talks to.
func shoutTo(v *paths.GraphVertex[busyHost, string, string, string]) error {
	for _, m := range v.Messages {
		v.State += m.From + m.M
	}
	for _, to := range v.Edges {
		v.Send(to, v.ID)
	}
	v.Halt = true
	return nil
}

func init() { register(append(graphCases(), superstepCases()...)...) }

func graphCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "paths.Graph." + method, Reason: reason, Make: call}
	}
	return []Case{
		one("States", "all", func(string) any { return talks.States() }),
		one("States", "by _id", func(s string) any { return talks.States(s) }),
		{Method: "paths.Graph.States", Reason: "of some", From: func(s string) ([]any, func() any) {
			ids := []string{s, s + "2"}
			return []any{ids}, func() any { return talks.States(ids...) }
		}},
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

func superstepCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "paths.Supersteps." + method, Reason: reason, Make: call}
	}
	few := busyHosts.InsertMany([]busyHost{
		{ID: "a", Labels: []string{"b"}}, {ID: "b", Labels: []string{"b2", "c"}}, {ID: "c"},
	}) // in a circle, they would shout forever
	return []Case{
		one("Job", "of distances, before it has read", func(s string) any { return talks.Distances(s).Job() }),
		one("Job", "an empty source is refused", func(string) any { return talks.Distances("").Job() }),
		one("Job", "distances", func(string) any { return sentBy(talks.Distances("a").Job(), few) }),
		one("Job", "components", func(string) any { return sentBy(groupings.Job(), few) }),
		one("Job", "ranks", func(string) any { return sentBy(talks.PageRank(paths.RankSpec{Tolerance: 0.5}).Job(), few) }),
		one("Job", "a program", func(string) any { return sentBy(shouting.Job(), few) }),
		one("Steps", "all records", func(string) any { return ranking.Steps() }),
		one("Indexes", "of distances", func(s string) any { return talks.Distances(s).Indexes() }),
		one("Indexes", "of components", func(string) any { return groupings.Indexes() }),
		one("Indexes", "of ranks, none", func(string) any { return ranking.Indexes() }),
		one("Indexes", "of a program", func(string) any { return shouting.Indexes() }),
	}
}
