package compose

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
)

type (
	keeper struct {
		ID    string                `bson:"_id"`
		Items []relate.Link[string] `bson:"items,omitempty"`
	}
	kept struct {
		ID    string              `bson:"_id"`
		Owner relate.Link[string] `bson:"owner,omitempty"`
	}
	peer struct {
		ID    string                `bson:"_id"`
		Peers []relate.Link[string] `bson:"peers,omitempty"`
		V     int64                 `bson:"v"`
	}
)

var (
	keepers    = model.NewCollection[keeper, string]("keepers")
	keptItems  = model.NewCollection[kept, string]("kept")
	leftPeers  = model.NewCollection[peer, string]("leftPeers")
	rightPeers = model.NewCollection[peer, string]("rightPeers")
)

// links are the two-sided relations with versions, whose operations run one after another. They are fixtures of lives only.
var links = []fixture{
	{name: "versioned relate.TwoWay", volatile: []string{"kept.owner", "keepers.items.v", "keepers.items.op"}, declare: func() (model.Technique, []operation) {
		r := relate.NewTwoWay(keepers, "items", keptItems, "owner", relate.TwoWaySpec{})
		return r, []operation{
			written("store", keepers.Insert(keeper{ID: "u1"}), keepers.Insert(keeper{ID: "u2"}), keptItems.Insert(kept{ID: "c1"})),
			assigned(r, "assign", "u1", 1), assigned(r, "assign another", "u2", 2), assigned(r, "unassign", "", 3),
		}
	}},
	{name: "versioned relate.ManyToMany", volatile: []string{"leftPeers.v", "leftPeers.peers.v", "leftPeers.peers.op", "rightPeers.peers.v", "rightPeers.peers.op"},
		declare: func() (model.Technique, []operation) {
			m := relate.NewManyToMany(leftPeers, "peers", rightPeers, "peers", relate.ManyToManySpec{Version: "v"})
			return m, []operation{
				written("store", leftPeers.Insert(peer{ID: "l"}), rightPeers.Insert(peer{ID: "r"})),
				joinedPeers(m, "link", true, 1), joinedPeers(m, "unlink", false, 2), joinedPeers(m, "link again", true, 3),
			}
		}},
}

// assigned reads the item c1 and gives it an owner, or takes it from its owner.
func assigned(r *relate.TwoWay[keeper, string, kept, string], name, owner string, op int) operation {
	return ran(name, func(ctx context.Context, db model.DB) error {
		item, err := keptItems.ByID("c1").One(ctx, db)
		if err != nil {
			return err
		}
		if owner == "" {
			return execute(ctx, db, r.Unassign(&item, token(op)))
		}
		return execute(ctx, db, r.Assign(&item, owner, token(op)))
	})
}

// joinedPeers reads the left document and links it to the right one, or unlinks it.
func joinedPeers(m *relate.ManyToMany[peer, string, peer, string], name string, link bool, op int) operation {
	return ran(name, func(ctx context.Context, db model.DB) error {
		left, err := leftPeers.ByID("l").One(ctx, db)
		if err != nil {
			return err
		}
		if link {
			return execute(ctx, db, m.Link(&left, "r", token(op)))
		}
		return execute(ctx, db, m.Unlink(&left, "r", token(op)))
	})
}

func init() {
	livesOf["versioned relate.TwoWay"] = func(x model.Technique) []life {
		r := x.(*relate.TwoWay[keeper, string, kept, string])
		return []life{{"an item", []operation{
			assigned(r, "assign", "u1", 101), assigned(r, "unassign", "", 102), assigned(r, "assign another", "u2", 103), assigned(r, "assign back", "u1", 104),
		}}, {"a new item", []operation{
			assigned(r, "unassign", "", 101), written("delete", keptItems.Delete("c1")), written("insert", keptItems.Insert(kept{ID: "c1"})), assigned(r, "assign", "u1", 102),
		}}, {"a new item of the same owner", []operation{
			written("delete", keptItems.Delete("c1")), written("insert", keptItems.Insert(kept{ID: "c1"})), assigned(r, "assign", "u2", 101),
		}}}
	}
	livesOf["versioned relate.ManyToMany"] = func(x model.Technique) []life {
		m := x.(*relate.ManyToMany[peer, string, peer, string])
		return []life{
			{"a link", []operation{joinedPeers(m, "link", true, 101), joinedPeers(m, "unlink", false, 102), joinedPeers(m, "link again", true, 103)}},
			{"no link", []operation{joinedPeers(m, "unlink", false, 101), joinedPeers(m, "link", true, 102), joinedPeers(m, "unlink again", false, 103)}},
			{"a new document", []operation{
				joinedPeers(m, "unlink", false, 101), written("delete", leftPeers.Delete("l")), written("insert", leftPeers.Insert(peer{ID: "l"})), joinedPeers(m, "link", true, 102),
			}},
		}
	}
}
