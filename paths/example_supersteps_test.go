package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// Towns and roads between them. How far is it from A to each, by road? A function in Go tells each town's neighbours,
// whenever it has found a shorter way, and Supersteps runs it for all towns, round after round.
type (
	town struct {
		ID    string `bson:"_id"`
		Roads []road `bson:"roads,omitempty"`
	}
	road struct {
		To string `bson:"to"`
		Km int    `bson:"km"`
	}
	way struct {
		Km  int    `bson:"km"`
		Via string `bson:"via,omitempty"`
	}
)

var (
	towns  = model.NewCollection[town, string]("towns")
	byRoad = paths.NewGraph(towns, "roads.to", paths.GraphSpec{States: "ways"})
	fromA  = paths.NewProgram(byRoad, shortestFromA)
)

func shortestFromA(v *paths.GraphVertex[town, string, *way, int]) error {
	shorter := v.ID == "A" && v.Step == 1
	if shorter {
		v.State = &way{}
	}
	for _, m := range v.Messages {
		if v.State == nil || m.M < v.State.Km {
			v.State, shorter = &way{Km: m.M, Via: m.From}, true
		}
	}
	for _, r := range v.Doc.Roads {
		if shorter {
			v.Send(r.To, v.State.Km+r.Km)
		}
	}
	v.Halt = true // until there is news
	return nil
}

func ExampleSupersteps() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("map")

	plan := towns.InsertMany([]town{
		{"A", []road{{"B", 9}, {"C", 2}}}, {"B", []road{{"D", 1}}}, {"C", []road{{"B", 3}, {"D", 9}}}, {"D", nil},
		{"E", []road{{"A", 1}}},
	})
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if err := model.New("map", fromA).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// The job goes on where it was, whoever ran it before, and wherever that was cut.
	cost, err := modeltest.Measure(monitor, func() error {
		_, err := fromA.Job().Run(ctx, db, model.JobOptions{})
		return err
	})
	fmt.Println(cost.Commands,
		"commands: four to begin, nine for each superstep, eight for the last, one to see that it is over", err)
	for step, err := range fromA.Steps().Each(ctx, db) {
		fmt.Printf("superstep %d: %d towns computed, %d told, %v\n", step.Step, step.Changed, step.Sent, err)
	}
	for v, err := range byRoad.States().Each(ctx, db) {
		var w *way
		if err == nil {
			err = v.Value.Unmarshal(&w)
		}
		switch {
		case err != nil:
			fmt.Println(err)
		case w == nil:
			fmt.Println(v.ID, "can't be reached")
		default:
			fmt.Printf("%s is %d km away, by %q\n", v.ID, w.Km, w.Via)
		}
	}
	// Output:
	// 40 commands: four to begin, nine for each superstep, eight for the last, one to see that it is over <nil>
	// superstep 0: 0 towns computed, 0 told, <nil>
	// superstep 1: 5 towns computed, 2 told, <nil>
	// superstep 2: 2 towns computed, 3 told, <nil>
	// superstep 3: 2 towns computed, 1 told, <nil>
	// superstep 4: 1 towns computed, 0 told, <nil>
	// A is 0 km away, by ""
	// B is 5 km away, by "C"
	// C is 2 km away, by "A"
	// D is 6 km away, by "B"
	// E can't be reached
}
