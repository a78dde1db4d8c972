package checks

import (
	"github.com/docmodel/docmodel/model/design"
)

// smallWorkload is a workload of two entities, and smallPrices its prices.
var (
	smallWorkload = design.Workload{
		Name: "small",
		Entities: []design.Entity{
			{Name: "rooms", Count: 3},
			{Name: "guests", Count: 6, Fields: []design.Field{{Name: "name", Text: 10}}},
		},
		Relations: []design.Relation{{Child: "guests", Field: "room", Parent: "rooms", List: "guests"}},
		Operations: []design.Operation{
			{Name: "list", Rate: 5, Accesses: []design.Access{{Of: "guests", By: []string{"room"}}}},
			{Name: "arrive", Rate: 1, Accesses: []design.Access{{Do: design.Insert, Of: "guests"}}},
		},
	}
	smallPrices = func() design.Prices {
		p, err := smallWorkload.Price(design.Layout{})
		if err != nil {
			panic(err)
		}
		return p
	}()
)
