package tree_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Sixteen writers move nodes under each other at the same time. The tree stays one, with every node.
func TestTreeMovers(t *testing.T) {
	testkit.Parallel(t)
	each := 6
	switch {
	case pathstest.Full:
		each = 20
	case testkit.Few():
		each = 3
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			begin := &paths.Forest[string]{}
			r := rand.New(rand.NewPCG(3, 3))
			for i := range 24 {
				at := paths.LastRoot[string]()
				if i > 2 {
					at = paths.LastChild(fmt.Sprint("n", r.IntN(i)))
				}
				_ = begin.Insert(fmt.Sprint("n", i), at)
			}
			k.Store(t, db, begin)
			var wg sync.WaitGroup
			var mu sync.Mutex
			moved, cycles := 0, 0
			for w := range 16 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					r := rand.New(rand.NewPCG(uint64(w), 9))
					for range each {
						id, to := fmt.Sprint("n", r.IntN(24)), fmt.Sprint("n", r.IntN(24))
						_, err := k.Tree.Move(id, paths.LastChild(to)).Run(t.Context(), db)
						mu.Lock()
						switch {
						case err == nil:
							moved++
						case errors.Is(err, paths.ErrCycle):
							cycles++
						default:
							t.Errorf("%s: move %s to %s: %v", k.Name, id, to, err)
						}
						mu.Unlock()
					}
				}()
			}
			wg.Wait()
			if f := k.ReadForest(t, db); f.Len() != begin.Len() {
				t.Errorf("%s: %d nodes, want %d", k.Name, f.Len(), begin.Len())
			}
			k.WantWhole(t, db)
			if moved == 0 || cycles == 0 {
				t.Errorf("%s: %d moved, %d cycles", k.Name, moved, cycles)
			}
		}
	})
}
