package childrefs_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/childrefs"
)

// A product lists the parts it is made of, in the order of assembly. Parts are documents of their own: they are counted
// and priced by themselves, and other products use them too.
type assembly struct {
	ID    string   `bson:"_id"`
	Name  string   `bson:"name"`
	Parts []string `bson:"parts,omitempty"`
}

type sparePart struct {
	ID    string  `bson:"_id"`
	Name  string  `bson:"name"`
	Price float64 `bson:"price"`
}

var (
	assemblies = model.NewCollection[assembly, string]("products")
	spareParts = model.NewCollection[sparePart, string]("parts")
	madeOf     = childrefs.New(assemblies, "parts", spareParts)
)

func ExampleChildRefs() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	plan := model.Concat(
		spareParts.InsertMany([]sparePart{
			{"AAAA", "#4 grommet", 3.99}, {"D2AA", "power switch", 9.5}, {"F17C", "fan blade assembly", 21.2},
		}),
		model.NewPlan(
			assemblies.Insert(assembly{ID: "shifter", Name: "left-handed smoke shifter"}),
			madeOf.Add("shifter", "F17C", "AAAA"),
			madeOf.InsertAt("shifter", 0, "D2AA"),
		),
	)
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Steps[4])
	fmt.Println(plan.Steps[5])
	fmt.Println(plan.Cost())

	// The parts of a product, in the order in which it lists them: one command.
	parts, err := madeOf.ChildrenOf("shifter").All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range parts {
		fmt.Println("-", p.Name)
	}

	// The products that use a part, by an index on the list.
	using := madeOf.ParentsOf("AAAA")
	n, err := using.Count(ctx, db)
	fmt.Println(using)
	fmt.Println(n, err, "by", using.Index)

	// A part goes out of every list.
	fmt.Println(madeOf.RemoveEverywhere("AAAA"))
	// Output:
	// db.products.updateOne({_id: 'shifter'}, {$addToSet: {parts: {$each: ['F17C', 'AAAA']}}})
	// db.products.updateOne({_id: 'shifter', parts: {$ne: 'D2AA'}}, {$push: {parts: {$each: ['D2AA'], $position: 0}}})
	// 4 commands, 6 documents written, by _id_
	// - power switch
	// - fan blade assembly
	// - #4 grommet
	// db.products.find({parts: 'AAAA'})
	// 1 <nil> by parts_1
	// db.products.updateMany({parts: 'AAAA'}, {$pullAll: {parts: ['AAAA']}})
}
