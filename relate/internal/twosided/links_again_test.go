package twosided_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An operation that is cut at any write, and is then called anew by a process that reads everything again, ends right.
func TestTwoWayCalledAnew(t *testing.T) {
	testkit.Parallel(t)
	at := func(owner string) relate.Link[string] {
		return relate.Link[string]{ID: owner, V: 1, Op: testkit.Token(9)}
	}
	bare := func(ctx context.Context, db *mongo.Database) error {
		return testkit.Store(ctx, db, testkit.Docs{"owners": {lister("a", "x"), lister("b")}, "items": {bareItem{ID: "x", Owner: "a"}, bareItem{ID: "f"}}})
	}
	linked := func(ctx context.Context, db *mongo.Database) error {
		return testkit.Store(ctx, db, testkit.Docs{"owners": {linkOwner{"a", []relate.Link[string]{at("x")}}, linkOwner{ID: "b"}}, "items": {linkItem{"x", at("a")}, linkItem{ID: "f"}}})
	}
	ofBare := func(i bareItem) string { return i.Owner }
	ofLinked := func(i linkItem) string {
		if !i.Owner.Holds() {
			return ""
		}
		return i.Owner.ID
	}
	calledAnew(t, "bare", bareWay, bareItems, bson.NilObjectID, bare, ofBare)
	calledAnew(t, "bounded", boundedWay, bareItems, bson.NilObjectID, bare, ofBare)
	calledAnew(t, "versioned", linkWay, linkItems, testkit.Token(1), linked, ofLinked)
}

func calledAnew[O, I any](t *testing.T, name string, way *relate.TwoWay[O, string, I, string], items *model.Collection[I, string], op bson.ObjectID, seed testkit.DBFunc, ownerOf func(I) string) {
	for _, c := range []struct {
		name, item, owner string // after it; "" for none
		plan              func(*I) model.Plan
	}{
		{"assign", "x", "b", func(i *I) model.Plan { return way.Assign(i, "b", op) }},
		{"assign a free item", "f", "b", func(i *I) model.Plan { return way.Assign(i, "b", op) }},
		{"unassign", "x", "", func(i *I) model.Plan { return way.Unassign(i, op) }},
	} {
		t.Run(name+" "+c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: seed,
				Run: func(ctx context.Context, db *mongo.Database) error {
					item, err := items.ByID(c.item).One(ctx, db)
					if err != nil {
						return err
					}
					return testkit.Exec(ctx, db, c.plan(&item))
				},
				Check: func(t testing.TB, db *mongo.Database) {
					wantNoHalfLinks(t, db, way)
					item, err := items.ByID(c.item).One(context.Background(), db)
					if owner := ownerOf(item); err != nil || owner != c.owner {
						t.Errorf("the item names %q, want %q, %v", owner, c.owner, err)
					}
				},
			})
		})
	}
}

func TestManyToManyCalledAnew(t *testing.T) {
	testkit.Parallel(t)
	linked := relate.Link[string]{V: 1, Op: testkit.Token(9)}
	to := func(id string) []relate.Link[string] { l := linked; l.ID = id; return []relate.Link[string]{l} }
	peersCalledAnew(t, "bare", barePeers, bareLefts, bson.NilObjectID, peers(peer("l", "r"), peer("r", "l"), peer("s")))
	peersCalledAnew(t, "bounded", boundedPeers, bareLefts, bson.NilObjectID, peers(peer("l", "r"), peer("r", "l"), peer("s")))
	peersCalledAnew(t, "versioned", linkPeers, linkLefts, testkit.Token(1), peers(linkPeer{ID: "l", Peers: to("r"), V: 1}, linkPeer{ID: "r", Peers: to("l")}, linkPeer{ID: "s"}))
}

func peersCalledAnew[D any](t *testing.T, name string, way *relate.ManyToMany[D, string, D, string], lefts *model.Collection[D, string], op bson.ObjectID, seed testkit.Docs) {
	for _, c := range []struct {
		name string
		n    int // of rights in the end
		plan func(*D) model.Plan
	}{
		{"link", 2, func(d *D) model.Plan { return way.Link(d, "s", op) }},
		{"unlink", 0, func(d *D) model.Plan { return way.Unlink(d, "r", op) }},
	} {
		t.Run(name+" "+c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, seed) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					left, err := lefts.ByID("l").One(ctx, db)
					if err != nil {
						return err
					}
					return testkit.Exec(ctx, db, c.plan(&left))
				},
				Check: func(t testing.TB, db *mongo.Database) {
					wantNoHalfPeers(t, db, way)
					if rights, err := way.Left().Others("l").All(context.Background(), db); err != nil || len(rights) != c.n {
						t.Errorf("%d rights, want %d, %v", len(rights), c.n, err)
					}
				},
			})
		})
	}
}

// A turn reads the database and decides what an actor writes next.
type turn func(ctx context.Context, db *mongo.Database) (model.Plan, error)

// A stepper takes its turns one after the other, write by write.
type stepper struct {
	name  string
	turns []turn
	cut   int // how many moves it has before it dies; 0 means that it doesn't

	plan     model.Plan
	reading  bool // its next move reads
	at, made int
	err      error
	done     bool
}

// move reads, or sends the next write.
func (s *stepper) move(ctx context.Context, db *mongo.Database) {
	s.made++
	switch {
	case s.reading:
		s.plan, s.err = s.turns[0](ctx, db)
		s.turns, s.at, s.reading = s.turns[1:], 0, false
	default:
		next := s.plan
		next.Steps, next.IfStale = next.Steps[s.at:s.at+1], nil
		if _, s.err = next.Run(ctx, db); s.err != nil && s.at > 0 {
			if err := testkit.Exec(ctx, db, model.Plan{Steps: s.plan.IfStale}); err != nil {
				s.err = err
			}
		}
		s.at++
	}
	if s.err == nil && s.at == len(s.plan.Steps) {
		s.reading = len(s.turns) > 0
		s.done = !s.reading
	}
	s.done = s.done || s.err != nil || s.made == s.cut
}

// A meeting is several actors on one database.
type meeting struct {
	seed   func(ctx context.Context, db *mongo.Database) error
	actors func() []*stepper
	check  func(t testing.TB, db *mongo.Database, actors []*stepper)
}

// play runs the actors by choices: one number for each moment in which several actors could go on. Where the choices end, the first
// actor goes on. It returns the choices made, and how many actors could go on at each.
func (m meeting) play(t *testing.T, client *mongo.Client, choices []int) (made, among []int) {
	ctx := t.Context()
	db := client.Database("meeting")
	if err := errors.Join(db.Drop(ctx), m.seed(ctx, db)); err != nil {
		t.Fatal(err)
	}
	actors := m.actors()
	for _, a := range actors {
		a.reading = true
	}
	story := ""
	for {
		var ready []*stepper
		for _, a := range actors {
			if !a.done {
				ready = append(ready, a)
			}
		}
		if len(ready) == 0 {
			break
		}
		choice := 0
		if len(made) < len(choices) {
			choice = choices[len(made)]
		}
		if len(ready) > 1 {
			made, among = append(made, choice), append(among, len(ready))
		} else {
			choice = 0
		}
		ready[choice].move(ctx, db)
		story += fmt.Sprintf("\n\t%s: %v", ready[choice].name, ready[choice].err)
	}
	m.check(t, db, actors)
	if t.Failed() {
		dump, _ := modeltest.Dump(ctx, db)
		t.Fatalf("the order was:%s\nwhat is left:\n%s", story, dump)
	}
	return made, among
}

// explore plays every order that differs in its first half, in full runs in its first two thirds. The rest of an order is the first
// actor's, then the second one's.
func (m meeting) explore(t *testing.T) {
	client := modeltest.NewClient(t)
	n := 0
	for choices := []int{}; ; n++ {
		made, among := m.play(t, client, choices)
		share := (len(made) + 1) / 2
		if testkit.EveryPair {
			share = (2*len(made) + 2) / 3
		}
		made = made[:share]
		at := len(made) - 1
		for at >= 0 && made[at] == among[at]-1 {
			at--
		}
		if at < 0 {
			break
		}
		choices = append(made[:at:at], made[at]+1)
	}
	t.Logf("%d orders", n+1)
}

// turns are those of a process that runs one check after the other, and waits for nobody.
func turns(checks []model.Check) []turn {
	out := make([]turn, len(checks))
	for i, c := range checks {
		out[i] = func(ctx context.Context, db *mongo.Database) (model.Plan, error) {
			found, err := c.All(ctx, db)
			return c.Mend(found), err
		}
	}
	return out
}

// An operation is cut after its first write. Another one, the same operation called anew, and a mending meet in every order of their
// writes: told success, both sides agree; mending takes away nothing that is under way, and once is enough.
func TestTwoWayRetried(t *testing.T) {
	testkit.Parallel(t)
	ctx := context.Background()
	way := linkWay
	assign := func(to string, op bson.ObjectID) turn {
		return func(ctx context.Context, db *mongo.Database) (model.Plan, error) {
			item, err := linkItems.ByID("x").One(ctx, db)
			return way.Assign(&item, to, op), err
		}
	}
	unassign := func(ctx context.Context, db *mongo.Database) (model.Plan, error) {
		item, err := linkItems.ByID("x").One(ctx, db)
		return way.Unassign(&item, testkit.Token(2)), err
	}
	for _, owned := range []string{"", "c"} {
		seed := func(ctx context.Context, db *mongo.Database) error {
			item := linkItem{ID: "x"}
			owners := []linkOwner{{ID: "a"}, {ID: "b"}, {ID: "c"}}
			if owned != "" {
				item.Owner = relate.Link[string]{ID: owned, V: 1, Op: testkit.Token(9)}
				owners[2].Items = []relate.Link[string]{{ID: "x", V: 1, Op: testkit.Token(9)}}
			}
			if err := testkit.Exec(ctx, db, model.Concat(linkOwners.InsertMany(owners), linkItems.InsertMany([]linkItem{item}))); err != nil {
				return err
			}
			cut := way.Assign(&item, "a", testkit.Token(1))
			return testkit.Exec(ctx, db, model.Plan{Steps: cut.Steps[:1]})
		}
		for name, other := range map[string]turn{
			"another's assign": assign("b", testkit.Token(2)), "another's assign to the same": assign("a", testkit.Token(2)), "another's unassign": unassign, "nobody": nil,
		} {
			for cut := range 3 {
				t.Run(fmt.Sprintf("%s, owned by %q, cut %d", name, owned, cut), func(t *testing.T) {
					testkit.Parallel(t)
					meeting{
						seed: seed,
						actors: func() []*stepper {
							list := []*stepper{{name: "again", turns: []turn{assign("a", testkit.Token(1))}, cut: cut}, {name: "mend", turns: turns(way.Checks())}}
							if other != nil {
								list = append(list, &stepper{name: "other", turns: []turn{other}})
							}
							return list
						},
						check: func(t testing.TB, db *mongo.Database, actors []*stepper) {
							for _, a := range actors {
								testkit.StaleOrNil(t, a.err)
							}
							if other == nil && actors[0].err != nil {
								t.Errorf("alone with a mending: %v", actors[0].err)
							}
							if cut > 0 {
								if _, err := testkit.MendAll(ctx, db, way.Checks()); err != nil {
									t.Error(err)
								}
							}
							wantNoHalfLinks(t, db, way)
						},
					}.explore(t)
				})
			}
		}
	}
}

func TestManyToManyRetried(t *testing.T) {
	testkit.Parallel(t)
	ctx := context.Background()
	way := linkPeers
	do := func(plan func(*linkPeer) model.Plan) turn {
		return func(ctx context.Context, db *mongo.Database) (model.Plan, error) {
			left, err := linkLefts.ByID("l").One(ctx, db)
			return plan(&left), err
		}
	}
	again := do(func(l *linkPeer) model.Plan { return way.Link(l, "r", testkit.Token(1)) })
	seed := func(full bool) func(ctx context.Context, db *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			left := linkPeer{ID: "l", Peers: []relate.Link[string]{{ID: "s", V: 1, Op: testkit.Token(9)}}, V: 1}
			rights := []linkPeer{{ID: "r"}, {ID: "s", Peers: []relate.Link[string]{{ID: "l", V: 1, Op: testkit.Token(9)}}}, {ID: "t"}}
			if full {
				left.Peers = append(left.Peers, relate.Link[string]{ID: "t", V: 2, Op: testkit.Token(8)})
				left.V, rights[2].Peers = 2, []relate.Link[string]{{ID: "l", V: 2, Op: testkit.Token(8)}}
			}
			if err := testkit.Exec(ctx, db, model.Concat(linkLefts.InsertMany([]linkPeer{left}), linkRights.InsertMany(rights))); err != nil {
				return err
			}
			cut := way.Link(&left, "r", testkit.Token(1))
			return testkit.Exec(ctx, db, model.Plan{Steps: cut.Steps[:1]})
		}
	}
	for name, other := range map[string]turn{
		"another's link":            do(func(l *linkPeer) model.Plan { return way.Link(l, "t", testkit.Token(2)) }),
		"another's link of these":   do(func(l *linkPeer) model.Plan { return way.Link(l, "r", testkit.Token(2)) }),
		"another's unlink":          do(func(l *linkPeer) model.Plan { return way.Unlink(l, "s", testkit.Token(2)) }),
		"another's unlink of these": do(func(l *linkPeer) model.Plan { return way.Unlink(l, "r", testkit.Token(2)) }),
		"another's, to the bound":   do(func(l *linkPeer) model.Plan { l.ID = "l"; return way.Link(l, "u", testkit.Token(2)) }),
		"nobody":                    nil,
	} {
		for cut := range 3 {
			t.Run(fmt.Sprintf("%s, cut %d", name, cut), func(t *testing.T) {
				testkit.Parallel(t)
				meeting{
					seed: func(ctx context.Context, db *mongo.Database) error {
						bound := name == "another's, to the bound"
						if err := seed(bound)(ctx, db); err != nil || !bound {
							return err
						}
						return testkit.Exec(ctx, db, linkRights.InsertMany([]linkPeer{{ID: "u"}}))
					},
					actors: func() []*stepper {
						list := []*stepper{{name: "again", turns: []turn{again}, cut: cut}, {name: "mend", turns: turns(way.Checks())}}
						if other != nil {
							list = append(list, &stepper{name: "other", turns: []turn{other}})
						}
						return list
					},
					check: func(t testing.TB, db *mongo.Database, actors []*stepper) {
						for _, a := range actors {
							if a.err != nil && !errors.Is(a.err, model.ErrFull) {
								testkit.StaleOrNil(t, a.err)
							}
						}
						if other == nil && actors[0].err != nil {
							t.Errorf("alone with a mending: %v", actors[0].err)
						}
						if cut > 0 {
							if _, err := testkit.MendAll(ctx, db, way.Checks()); err != nil {
								t.Error(err)
							}
						}
						wantNoHalfPeers(t, db, way)
					},
				}.explore(t)
			})
		}
	}
}

// A job leaves a link without an id, and tells; it mends the others of the batch.
func TestTwoWayLinkByHand(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		broken := bson.D{{Key: "v", Value: int64(1)}, {Key: "op", Value: testkit.Token(1)}}
		links := bson.A{broken, relate.Link[string]{ID: "gone", V: 1, Op: testkit.Token(2)}}
		if err := testkit.Store(ctx, db, testkit.Docs{"owners": {bson.D{{Key: "_id", Value: "a"}, {Key: "items", Value: links}}}}); err != nil {
			t.Fatal(err)
		}
		_, err := testkit.MendAll(ctx, db, linkWay.Checks())
		var left *model.LeftError
		if !errors.As(err, &left) || left.Left != 1 || !strings.Contains(err.Error(), "the link has no id: correct it by hand") {
			t.Errorf("left %v", err)
		}
		testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"owners": {bson.D{{Key: "_id", Value: "a"}, {Key: "items", Value: bson.A{broken}}}}, "items": nil})
	})
}
