package main

import (
	"testing"

	"github.com/docmodel/docmodel/mongotest"
)

// The program uses transactions if the server has them, and runs without them.
func TestOpen(t *testing.T) {
	for name, options := range map[string][]mongotest.Option{
		"replica set": nil, "standalone": {mongotest.Settings{Standalone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			monitor := mongotest.NewMonitor()
			client := mongotest.NewClient(t, append(options, monitor)...)
			repo, err := open(t.Context(), conduit.On(client.Database("conduit")))
			if err == nil {
				err = fill(t.Context(), repo)
			}
			if err != nil {
				t.Fatal(err)
			}
			commits := 0
			for _, c := range monitor.Commands() {
				if c.Name == "commitTransaction" {
					commits++
				}
			}
			if commits > 0 != (name == "replica set") {
				t.Errorf("%d commits", commits)
			}
			wantSound(t, client.Database("conduit"))
		})
	}
}
