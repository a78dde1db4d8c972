package twosided_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type barePeer = bareDoc

var (
	bareLefts  = model.NewCollection[barePeer, string]("lefts")
	bareRights = model.NewCollectionWith[barePeer, string]("rights", model.CollectionOptions{StoreField: "kept"})

	barePeers             = twosided.NewManyToMany(bareLefts, "peers", bareRights, "peers", twosided.ManyToManySpec{})
	peerLefts, peerRights = peerStores(barePeers)
	boundedLefts, _       = peerStores(boundedPeers)
)

// peerStores returns the stores of both sides.
func peerStores(
	m *twosided.ManyToMany[barePeer, string, barePeer, string],
) (lefts, rights *model.Store[barePeer, string]) {
	linked := model.New("peers", m)
	return model.NewStore(linked, bareLefts), model.NewStore(linked, bareRights)
}

func wantNoHalfPeers(t testing.TB, db *mongo.Database) {
	t.Helper()
	testkit.WantNothingFound(t, db, barePeers.Checks())
}

// A repair that is cut at any write and run again ends right.
func TestManyToManyRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, trust := range []bool{false, true} {
		t.Run(fmt.Sprint("trust ", trust), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Store(ctx, db, testkit.Docs{
						"lefts":  {peer("l", "left", "lost"), peer("m")},
						"rights": {peer("left"), peer("right", "m", "nobody")},
					})
				},
				Run:   testkit.MendedAll(trustingPeers(trust).Checks()),
				Check: func(t testing.TB, db *mongo.Database) { wantNoHalfPeers(t, db) },
			})
		})
	}
}
