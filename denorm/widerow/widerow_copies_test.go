package widerow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// wideStale are the findings about copied fields of a side's documents, and about documents that are missing.
func wideStale(t testing.TB, db *mongo.Database, side int) (found []model.Finding, said []string) {
	t.Helper()
	found, err := wide.Checks()[1+side].All(t.Context(), db)
	gone, errGone := wide.Checks()[3+side].All(t.Context(), db)
	if err := errors.Join(err, errGone); err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Concat(found, gone) {
		said = append(said, f.String())
	}
	return found, said
}

// Copied fields that are old, at random and in any form, are found whole, and nothing else; renewed, all are as their
// documents say.
func TestWideRowStale(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(8, 9))
		if err := seedMembers(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		links := map[int]int{} // by song
		for n := range 9 {
			for f := range 3 {
				if r.IntN(3) > 0 {
					links[n]++
					mustLink(t, db, wide.Link(fan(f).ID, song(n).ID, minute(n), testkit.Token(10*n+f)))
				}
			}
		}
		for side := range 2 {
			if _, said := wideStale(t, db, side); len(said) > 0 {
				t.Errorf("of what is fresh it finds %q", said)
			}
		}
		var want []string
		for n := range 9 {
			id := fmt.Sprint("s", n)
			switch {
			case links[n] == 0:
			case n == 8: // gone
				testkit.MustExec(t, db, model.NewPlan(songs.Delete(id)))
				want = append(want, fmt.Sprintf(`songs 's8': doesn't exist, but %d columns link to it`, links[n]))
			case n%3 == 0: // a name that looks like a path
				testkit.MustExec(t, db,
					model.NewPlan(songs.Update(id, bson.D{
						testkit.E("$set", bson.D{testkit.E("name", "$name"), testkit.E("home", address{"7"})}),
					})))
				want = append(want,
					fmt.Sprintf(`songs '%s': %d columns have the copied fields {name: 'Song %d', home: {}}, `+
						`but should have {name: '$name', home: {zip: '7'}}`, id, links[n], n))
			case n%3 == 1: // columns that carry nothing
				testkit.MustExec(t, db,
					model.NewPlan(model.Write{Collection: "songsByFan", Model: &mongo.UpdateManyModel{
						Filter:       bson.D{testkit.E("cols.id", id)},
						Update:       bson.D{testkit.E("$unset", bson.D{testkit.E("cols.$[c].doc", "")})},
						ArrayFilters: []any{bson.D{testkit.E("c.id", id)}},
					}}))
				want = append(want,
					fmt.Sprintf(`songs '%s': %d columns have the copied fields nothing, `+
						`but should have {name: 'Song %d', home: {}}`,
						id, links[n], n))
			}
		}
		found, said := wideStale(t, db, 1)
		if len(want) < 4 || !slices.Equal(said, want) {
			t.Fatalf("it finds %q, want %q", said, want)
		}
		if _, said := wideStale(t, db, 0); len(said) > 0 {
			t.Errorf("of the other side it finds %q", said)
		}
		// What was renewed meanwhile, with something newer, is left alone.
		var newer string
		for _, d := range found {
			if newer == "" {
				newer = d.ID.StringValue()
				testkit.MustChange(t, db,
					songStore.Set(newer, bson.D{testkit.E("name", "Newer"), testkit.E("home", bson.RawValue{})}))
			}
		}
		for range 2 {
			testkit.MustExec(t, db, wide.Checks()[2].Mend(found))
		}
		if _, said := wideStale(t, db, 1); links[8] == 0 || !slices.Equal(said, want[len(want)-1:]) {
			t.Errorf("renewed, it finds %q", said)
		}
		wantWide(t, db, wide, 4)
	})
}

func TestWideRowStaleRefused(t *testing.T) {
	testkit.Parallel(t)
	plain := widerow.New(fans, songs, widerow.Spec{LeftRows: "l", RightRows: "r"})
	for _, c := range plain.Checks() {
		if strings.Contains(c.Name, "copies") {
			t.Errorf("%s: nothing is copied", c.Name)
		}
	}
	for reason, err := range map[string]error{
		"what is no result": wide.Checks()[1].Mend(testkit.EmptyFinding(wide.Checks()[1])).Err(),
		"no document": wide.Checks()[2].Mend([]model.Finding{{
			Check: wide.Checks()[2].Name, Detail: testkit.Marshal(bson.D{testkit.E("id", "s1")}),
		}}).Err(),
	} {
		if !errors.Is(err, testkit.ErrRefused) && !errors.As(err, new(*model.ValueError)) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
