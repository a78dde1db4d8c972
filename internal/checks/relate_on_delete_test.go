package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/ondelete"
)

var (
	// A product goes with its fittings and its own parts; those that other products list stay listed nowhere.
	deletesProducts = ondelete.New(products, ondelete.Spec{
		Cascade: []relate.Referrer{fitted.Left}, Owns: []relate.Referrer{uses},
		Nullify: []relate.Referrer{uses}, Restrict: []relate.Referrer{fitted.Right},
	})
	deletesHosts    = ondelete.New(hosts, ondelete.Spec{Nullify: []relate.Referrer{from, lostOwner}})
	deletesStocks   = ondelete.New(stocks, ondelete.Spec{Nullify: []relate.Referrer{owns}})
	deletesAnything = ondelete.New(anything, ondelete.Spec{
		Cascade: []relate.Referrer{keyed}, Nullify: []relate.Referrer{below},
	})
)

func init() {
	store := model.NewStore(model.New("products", deletesProducts), products)
	register(
		Case{Method: "ondelete.OnDelete.Indexes", Reason: "on each path that is asked for, once",
			Make: func(string) any { return deletesProducts.Indexes() }},
		Case{Method: "ondelete.OnDelete.Indexes", Reason: "on what refers to hosts",
			Make: func(string) any { return deletesHosts.Indexes() }},
		Case{
			Method: "model.Store.DeleteJob", Reason: "products with all that goes with them",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "bench"})
				return []any{ids}, func() any { return store.DeleteJob(ids...) }
			},
		},
		Case{
			Method: "model.Store.DeleteJob", Reason: "an empty id is refused",
			Make: func(s string) any { return store.DeleteJob(s, "") },
		},
		Case{
			Method: "model.Store.DeleteJob", Reason: "no id is refused",
			Make: func(string) any { return store.DeleteJob() },
		},
	)
}
