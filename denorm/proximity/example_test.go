package proximity_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/proximity"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A résumé keeps its skills as a list, and also as one text, in which a skill and its
// level stand together.
type (
	skilled struct {
		ID     string       `bson:"_id"`
		Skills []skillGrade `bson:"skills,omitempty"`
	}
	skillGrade struct {
		Skill string `bson:"skill"`
		Level string `bson:"level"`
	}
)

var (
	skilledPeople = model.NewCollection[skilled, string]("resumes")
	skillText     = proximity.New(skilledPeople, "skills", proximity.Spec{
		Text: "skillText", Fields: []string{"skill", "level"},
	})
	resumeStore = model.NewStore(model.New("jobs", skillText), skilledPeople)
)

func ExampleProximity() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("jobs")

	for _, person := range []skilled{{"john", []skillGrade{{"Poetry", "Poor"}, {"Math", "Excellent"}}}, {ID: "ann"}} {
		if _, _, err := resumeStore.Insert(person).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	add := skillText.Add("ann", skillGrade{"Classical Poetry", "Truly Excellent"})
	fmt.Println(add)
	fmt.Println(add.Cost())
	if _, err := add.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// John has poetry, and something excellent, but no excellent poetry.
	near := skillText.Near("Poetry", "Excellent", 1, proximity.AnyOrder)
	fmt.Println(near)
	found, err := near.All(ctx, db)
	fmt.Println(found, err)
	fmt.Println(skillText.Equal(bson.D{{Key: "skill", Value: "C++ (2020)"}}))

	// The text says what the list says.
	var skills []skillGrade
	err = skillText.Back("|Classical Poetry,Truly Excellent|", &skills)
	fmt.Println(skills, err)
	// Output:
	// db.resumes.updateOne({_id: 'ann', skills: {$not: {$elemMatch: {$eq: {skill: 'Classical Poetry', level: 'Truly Excellent'}}}}}, [{$set: {skills: {$concatArrays: [{$ifNull: ['$skills', []]}, [{$literal: {skill: 'Classical Poetry', level: 'Truly Excellent'}}]]}, skillText: {$concat: [{$ifNull: ['$skillText', '|']}, {$literal: 'Classical Poetry,Truly Excellent|'}]}}}])
	// 1 command, 1 document written, by _id_
	// db.resumes.find({skillText: BSONRegExp('[ \\t\\r\\n,;|](?:Poetry[ \\t\\r\\n,;]+(?:[^ \\t\\r\\n,;|]+[ \\t\\r\\n,;]+){0,1}Excellent|Excellent[ \\t\\r\\n,;]+(?:[^ \\t\\r\\n,;|]+[ \\t\\r\\n,;]+){0,1}Poetry)[ \\t\\r\\n,;|]')})
	// [{ann [{Classical Poetry Truly Excellent}]}] <nil>
	// db.resumes.find({skillText: RegExp('\\|C\\+\\+ \\(2020\\),[^,|]*\\|')})
	// [{Classical Poetry Truly Excellent}] <nil>
}
