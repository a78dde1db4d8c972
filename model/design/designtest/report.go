package designtest

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/docmodel/docmodel/internal/page"
)

// String returns a table for each trial, with measured costs and prices.
func (r Report) String() string {
	var b strings.Builder
	for _, t := range r.Trials {
		fmt.Fprintf(&b, "%s, on the %s: %s in each unit of time, priced %s\n", t.Layout.Name, t.Backend,
			ms(t.Time), ms(t.Priced.Time))
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, strings.Join(columns, "\t")+"\t")
		for _, m := range t.Operations {
			fmt.Fprintln(w, strings.Join(t.row(m), "\t")+"\t")
		}
		w.Flush()
		b.WriteByte('\n')
	}
	return b.String()
}

var columns = []string{
	"operation", "rate", "runs", "commands", "priced", "documents", "priced", "KB read", "priced", "time", "priced",
	"took",
}

func (t Trial) row(m Measured) []string {
	p := t.Priced.Operation(m.Operation)
	return []string{
		m.Operation, number(m.Rate), fmt.Sprint(m.Runs), number(m.Commands), number(p.Commands),
		number((m.Read + m.Written)), number((p.Read + p.Written)), number(m.Bytes / 1024), number(p.Bytes / 1024),
		ms(m.Time), ms(p.Time), ms(m.Took),
	}
}

func ms(t time.Duration) string { return fmt.Sprintf("%.2f ms", float64(t)/float64(time.Millisecond)) }

// HTML returns the report as a self-contained web page, with a chart of the operations.
func (r Report) HTML() string {
	p := page.New(r.Workload.Name)
	layouts := page.Table{
		Caption: "Layouts",
		Head:    []string{"layout", "backend", "measured", "priced", "stores"},
		Columns: "llrrt",
	}
	for _, t := range r.Trials {
		layouts.Rows = append(layouts.Rows, []string{
			t.Layout.Name, t.Backend, ms(t.Time), ms(t.Priced.Time), t.Layout.String(),
		})
	}
	p.Table(layouts)
	p.Section("What each operation takes")
	p.Text("Its rate times the measured cost of one run. The thin line is the priced cost.")
	p.Bars(r.chart())
	for _, t := range r.Trials {
		p.Section(t.title())
		table := page.Table{
			Caption: "Measured beside priced", Head: columns,
			Columns: "l" + strings.Repeat("r", len(columns)-1),
		}
		for _, m := range t.Operations {
			table.Rows = append(table.Rows, t.row(m))
		}
		p.Table(table)
	}
	return p.String()
}

func (t Trial) title() string { return fmt.Sprintf("%s, on the %s", t.Layout.Name, t.Backend) }

// chart has a row for each operation, and in it a bar for each trial.
func (r Report) chart() page.Bars {
	c := page.Bars{Caption: "Time of each operation", What: "operation"}
	for _, t := range r.Trials {
		c.Series = append(c.Series, t.title())
	}
	var group page.BarGroup
	for k, o := range r.Workload.Operations {
		row := page.BarRow{Name: o.Name}
		for i, t := range r.Trials {
			m := t.Operations[k]
			took, priced := weighted(m.Rate, m.Time), weighted(m.Rate, t.Priced.Operation(o.Name).Time)
			row.Bars = append(row.Bars, page.Bar{
				Series: i, Amount: float64(took), Text: ms(took) + ", priced " + ms(priced), Mark: float64(priced),
			})
		}
		group.Rows = append(group.Rows, row)
	}
	c.Groups = []page.BarGroup{group}
	return c
}

func weighted(rate float64, t time.Duration) time.Duration { return time.Duration(rate * float64(t)) }
