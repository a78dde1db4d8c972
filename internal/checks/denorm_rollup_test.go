package checks

import (
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
)

type pageHit struct {
	ID   string       `bson:"_id"`
	Page string       `bson:"page"`
	At   time.Time    `bson:"at"`
	Took int64        `bson:"took"`
	Mark *rollup.Mark `bson:"mark,omitempty"`
}

var (
	pageHits  = model.NewCollection[pageHit, string]("hits")
	hitBins   = model.NewCollection[rollup.Doc[string, int64], string]("hitTotals")
	hitTotals = rollup.New(pageHits, hitBins, rollup.Spec{
		Time: "at", By: []string{"page"}, Sums: []string{"took"}, Mins: []string{"took"}, Maxs: []string{"took"},
		Bins: []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly}, Mark: "mark", For: 90 * 24 * time.Hour,
	})
	hitStore  = model.NewStore(model.New("hits", hitTotals), pageHits)
	dayTotals = rollup.New(pageHits, hitBins.Named("days"), rollup.Spec{
		Time: "at", By: []string{"page"}, Bins: []denorm.Period{denorm.Daily}, Mark: "mark",
	})
)

func init() { register(rollupCases()...) }

func rollupCases() []Case {
	var none time.Time
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "rollup.Rollup." + method, Reason: reason, Make: call}
	}
	noHits := func(string) testkit.Docs { return nil }
	month := noon(0).AddDate(0, 1, 0)
	return []Case{
		storeCase("Insert", "an event that waits", noHits, func(s string) model.ChangeOf[model.Stored[pageHit]] {
			return hitStore.Insert(pageHit{ID: s, Page: s, At: noon(0), Took: 3})
		}),
		one("Roll", "what waits", func(string) any { return hitTotals.Roll() }),
		one("Rebuild", "each unit", func(string) any { return hitTotals.Rebuild(noon(0), month) }),
		one("Rebuild", "of half an hour is refused", func(string) any { return hitTotals.Rebuild(noon(0), noon(30)) }),
		one("Bins", "some hours", func(s string) any { return hitTotals.Bins(s, denorm.Hourly, noon(0), noon(2*60)) }),
		one("Bins", "all days", func(s string) any { return dayTotals.Bins(s, denorm.Daily, none, none) }),
		one("Bins", "hours that are not kept are refused", func(s string) any {
			return dayTotals.Bins(s, denorm.Hourly, none, none)
		}),
		one("Total", "months, days and hours", func(s string) any {
			return hitTotals.Total(s, noon(0), month.AddDate(0, 2, 0))
		}),
		one("Total", "one unit", func(s string) any { return hitTotals.Total(s, noon(0), noon(2*60)) }),
		one("Expire", "what is rolled up", func(string) any { return hitTotals.Expire(noon(0)) }),
		one("Indexes", "of events and bins", func(string) any { return hitTotals.Indexes() }),
		one("Checks", "three", func(string) any { return hitTotals.Checks() }),
	}
}
