package checks

import (
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/model"
)

type siteVisit = uniquecount.Doc[string, string]

var (
	siteVisits   = model.NewCollection[siteVisit, string]("visits")
	dayVisitors  = uniquecount.New(siteVisits, uniquecount.Spec{Period: denorm.Daily, For: 90 * 24 * time.Hour})
	everVisitors = uniquecount.New(siteVisits.Named("ever"), uniquecount.Spec{})
	monthVisits  = uniquecount.New(siteVisits.Named("months"), uniquecount.Spec{Period: denorm.Monthly})
)

func init() { register(uniqueCountCases()...) }

func uniqueCountCases() []Case {
	var none time.Time
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "uniquecount.UniqueCount." + method, Reason: reason, Make: call}
	}
	return []Case{
		one("Visit", "in a day", func(s string) any { return dayVisitors.Visit(s, s, noon(0)) }),
		one("Visit", "for ever", func(s string) any { return everVisitors.Visit(s, s, none) }),
		one("Visit", "of nobody is refused", func(s string) any { return dayVisitors.Visit(s, "", noon(0)) }),
		{Method: "uniquecount.UniqueCount.VisitAll", Reason: "one of them twice", From: func(s string) ([]any, func() any) {
			list := roomy([]model.Write{
				dayVisitors.Visit(s, s+"2", noon(0)), dayVisitors.Visit(s, s, noon(0)), dayVisitors.Visit(s, s, noon(60)),
			})
			return []any{list}, func() any { return dayVisitors.VisitAll(list) }
		}},
		one("Seen", "by _id", func(s string) any { return dayVisitors.Seen(s, s, noon(0)) }),
		one("Visits", "some days", func(s string) any { return dayVisitors.Visits(s, noon(0), noon(2*24*60)) }),
		one("Visits", "from a day on", func(s string) any { return dayVisitors.Visits(s, noon(0), none) }),
		one("Count", "one day", func(s string) any { return dayVisitors.Count(s, noon(0), noon(0).Add(time.Hour)) }),
		one("Count", "some days, each member once", func(s string) any {
			return dayVisitors.Count(s, noon(0), noon(2*24*60))
		}),
		one("Count", "for ever", func(s string) any { return everVisitors.Count(s, none, none) }),
		one("Count", "times for ever are refused", func(s string) any { return everVisitors.Count(s, noon(0), none) }),
		one("PerPeriod", "all days", func(s string) any { return dayVisitors.PerPeriod(s, none, none) }),
		one("Counts", "one day", func(string) any { return dayVisitors.Counts(noon(0), noon(0).Add(time.Hour)) }),
		one("Counts", "until a day, each member once", func(string) any { return dayVisitors.Counts(none, noon(2*24*60)) }),
		{Method: "uniquecount.UniqueCount.Rollup", Reason: "into months", From: func(string) ([]any, func() any) {
			months := *monthVisits // which nothing can change
			names := roomy([]string{"months"})
			return []any{names}, func() any { return dayVisitors.Rollup(&months, noon(0), noon(20*24*60)) }
		}},
		one("Rollup", "into one count", func(string) any { return dayVisitors.Rollup(everVisitors, noon(0), noon(2*24*60)) }),
		one("Expire", "days", func(string) any { return dayVisitors.Expire(noon(0)) }),
		one("Indexes", "by period, and to expire", func(string) any { return dayVisitors.Indexes() }),
	}
}
