package indextable_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Whatever is spoilt is found whole, and repaired to exactly what a rebuild from nothing gives.
func TestIndexTableDrift(t *testing.T) {
	testkit.Parallel(t)
	cities := []string{"Rome", "Oslo", "Kyiv", ""}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 8 {
			testkit.Seed(t, db, testkit.Docs{"members": nil, "cities": nil, "tags": nil})
			var list []member
			for i := range 30 {
				m := member{
					ID: fmt.Sprint(i), Name: fmt.Sprint("n", i), City: cities[r.IntN(4)], Tags: cities[:r.IntN(4)],
				}
				if r.IntN(2) == 0 {
					m.Home = &address{fmt.Sprint(i)}
				}
				list = append(list, m)
			}
			testkit.MustExec(t, db, members.InsertMany(list))
			for _, x := range []*indextable.IndexTable[member, string]{byCity, byTag} {
				if _, err := x.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
					t.Fatal(err)
				}
				wantDrifts(t, db, x)
			}
			want := map[string]int{}
			for _, i := range r.Perm(30)[:12] {
				if m := list[i]; m.City != "" {
					want[spoil(t, db, &m, r.IntN(4))]++
				}
			}
			found, err := drifts(t.Context(), db, byCity)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, s := range texts(found) {
				got[s]++
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("found %v, want %v", got, want)
			}
			if err := testkit.MendedByJobs(byCity.Checks()...)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			wantDrifts(t, db, byCity)
			repaired, _ := mongotest.Dump(t.Context(), db)
			testkit.Seed(t, db, testkit.Docs{"cities": nil})
			if _, err := byCity.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			if rebuilt, _ := mongotest.Dump(t.Context(), db); rebuilt != repaired {
				t.Errorf("repaired:\n%s\nrebuilt:\n%s", repaired, rebuilt)
			}
		}
	})
}

// spoil makes one fault, past the table, and says how a check is to call it.
func spoil(t *testing.T, db *mongo.Database, m *member, how int) string {
	t.Helper()
	ctx, key := t.Context(), bson.D{testkit.E("_id", bson.D{testkit.E("v", m.City), testkit.E("id", m.ID)})}
	var err error
	fault := "surplus"
	switch how {
	case 0:
		_, err = db.Collection("members").DeleteOne(ctx, bson.D{testkit.E("_id", m.ID)})
	case 1:
		_, err = db.Collection("members").
			UpdateByID(ctx, m.ID, bson.D{testkit.E("$unset", bson.D{testkit.E("city", "")})})
	case 2:
		fault = "missing"
		_, err = db.Collection("cities").DeleteOne(ctx, key)
	case 3:
		fault = "staleCopy"
		_, err = db.Collection("members").
			UpdateByID(ctx, m.ID, bson.D{testkit.E("$set", bson.D{testkit.E("home.zip", "new")})})
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s: '%s' of '%s'", fault, m.City, m.ID)
}
