package school

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// naming is a rule that no technique knows: an enrolment's _id is its student and course.
var naming = model.NewParts(nil, nil, func() []model.Check {
	want := bson.D{{Key: "$concat", Value: bson.A{"$student.id", "/", "$course"}}}
	differs := bson.D{{Key: "$ne", Value: bson.A{"$_id", want}}}
	return []model.Check{{
		Name: "enrolments: ids", Collection: enrolments.Name(), Rule: "an _id is student/course",
		Pipeline: mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: "$expr", Value: differs}}}}},
		Tell: func(f *model.Finding) error {
			f.ID, f.Problem = f.Detail.Lookup("_id"), "isn't named after its student and course"
			return nil
		},
	}}
}, func() []model.Footprint {
	uses := func(path string) model.Footprint {
		return model.Footprint{Collection: enrolments.Name(), Path: path, Use: model.Reads}
	}
	return []model.Footprint{uses("_id"), uses("student.id"), uses("course")}
})

func Example_rule() {
	ctx, db, stop := start()
	defer stop()
	if err := fill(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	must(db.Collection("enrolments").InsertOne(ctx, Enrolment{
		ID: "rod", Student: StudentRef{ID: "rod", Name: "Rod"}, Course: "maths",
	}))

	audit := model.New("school", board, names, naming).Audit()
	for finding, err := range audit.Each(ctx, db) {
		fmt.Println(finding, err)
	}
	// Output:
	// enrolments 'rod': isn't named after its student and course <nil>
}
