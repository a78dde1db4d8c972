package numbered_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A résumé lists skills, each with a level. Who is excellent at poetry? Fields skill: [...], level: [...] couldn't
// tell.
type resume struct {
	ID     string       `bson:"_id"`
	Name   string       `bson:"name,omitempty"`
	Skills []skillLevel `bson:"skills,omitempty"`
	Langs  []string     `bson:"langs,omitempty"`
}

type skillLevel struct {
	Skill string `bson:"skill,omitempty"`
	Level string `bson:"level,omitempty"`
}

var (
	resumes     = model.NewCollection[resume, string]("resumes")
	skillFields = numbered.New(resumes, "skills", numbered.Spec{
		Max: 3, Fields: []string{"skill", "level"}, Key: "skill",
	})
)

func ExampleNumbered() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("jobs")

	first := skillFields.Insert(resume{ID: "john", Skills: []skillLevel{{"Poetry", "Poor"}, {"Math", "Excellent"}}})
	fmt.Println(first)
	plan := model.NewPlan(first, skillFields.Insert(resume{ID: "ann", Skills: []skillLevel{{"Math", "Poor"}}}))
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	add := skillFields.AppendAt("ann", 1, skillLevel{"Poetry", "Excellent"}) // Append finds out how many there are
	fmt.Println(add)
	fmt.Println(add.Cost())
	if _, err := skillFields.Append("ann", skillLevel{"Poetry", "Excellent"}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}

	// John has poetry, and something excellent, but no excellent poetry.
	query := skillFields.Equal(bson.D{{Key: "skill", Value: "Poetry"}, {Key: "level", Value: "Excellent"}})
	fmt.Println(query)
	flat, err := query.One(ctx, db)
	fmt.Println(model.Shell(flat), err)
	found, err := skillFields.Documents(query).All(ctx, db)
	fmt.Println(found, err)
	// Output:
	// db.resumes.insertOne({_id: 'john', skills: 2, skill_1: 'Poetry', level_1: 'Poor', skill_2: 'Math', level_2: 'Excellent'})
	// db.resumes.updateOne({_id: 'ann', skills: 1, $nor: [{skill_1: 'Poetry'}]}, {$set: {skills: 2, skill_2: 'Poetry', level_2: 'Excellent'}})
	// 1 command, 1 document written, by _id_
	// db.resumes.find({$or: [{skill_1: 'Poetry', level_1: 'Excellent'}, {skill_2: 'Poetry', level_2: 'Excellent'}, {skill_3: 'Poetry', level_3: 'Excellent'}]})
	// {_id: 'ann', skills: 2, skill_1: 'Math', level_1: 'Poor', level_2: 'Excellent', skill_2: 'Poetry'} <nil>
	// [{ann  [{Math Poor} {Poetry Excellent}] []}] <nil>
}
