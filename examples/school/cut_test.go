package school

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// After a crash at any write, the same action completes itself.
func TestCut(t *testing.T) {
	for i, a := range north.actions() {
		t.Run(a.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 1, Seed: before(i),
				Run:   func(ctx context.Context, db *mongo.Database) error { return a.run(ctx, north.on(db)) },
				Check: func(t testing.TB, db *mongo.Database) { north.audited(t, db) },
			})
		})
	}
}

// If it isn't run again, Mend completes or undoes it.
func TestMend(t *testing.T) {
	for i, a := range north.actions() {
		t.Run(a.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 1, Seed: before(i),
				Run:    func(ctx context.Context, db *mongo.Database) error { return a.run(ctx, north.on(db)) },
				Repair: func(ctx context.Context, db *mongo.Database) error { return north.on(db).Mend(ctx, 0) },
				Check:  func(t testing.TB, db *mongo.Database) { north.audited(t, db) },
			})
		})
	}
}

// before stores the data of the i-th action.
func before(i int) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		err := north.fill(ctx, db)
		for _, a := range north.actions()[:i] {
			err = errors.Join(err, a.run(ctx, north.on(db)))
		}
		return err
	}
}

// After Mend, a student that was deleted past the store is in no course. A student who left can return.
func TestGone(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, r := t.Context(), north.on(db)
		err := errors.Join(
			north.fill(ctx, db), south.fill(ctx, db), r.Enrol(ctx, north.op(5), north.kate(), north.maths()),
			r.Leave(ctx, north.op(5)), r.Enrol(ctx, north.op(7), north.kate(), north.maths()),
		)
		_, errGone := students.Delete(north.rod()).Run(ctx, r.db)
		found, errAudit := r.Audit(ctx)
		if err := errors.Join(err, errGone, errAudit); err != nil || len(found) != 4 { // two enrolments, by the relation and by the copies
			t.Fatal(found, err)
		}
		err = r.Mend(ctx, 0)
		maths, errMaths := r.Course(ctx, north.maths())
		art, errArt := r.Course(ctx, north.art())
		if err := errors.Join(err, errMaths, errArt); err != nil || maths.Students != 1 || maths.Rating != nil || art.Students != 0 {
			t.Errorf("%+v\n%+v\n%v", maths, art, err)
		}
		north.audited(t, db)
		south.audited(t, db)
	})
}

// A student whom the store deletes leaves all courses.
func TestDeleteStudent(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, r := t.Context(), north.on(db)
		err := errors.Join(north.fill(ctx, db), south.fill(ctx, db))
		_, _, errGone := studentStore.Delete(north.rod()).Run(ctx, r.db)
		maths, errMaths := r.Course(ctx, north.maths())
		art, errArt := r.Course(ctx, north.art())
		err = errors.Join(err, errGone, errMaths, errArt)
		if err != nil || maths.Students != 0 || maths.Rating != nil || art.Students != 0 {
			t.Errorf("%+v\n%+v\n%v", maths, art, err)
		}
		north.audited(t, db)
		south.audited(t, db)
	})
}
