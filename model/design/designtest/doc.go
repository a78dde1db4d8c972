// Package designtest measures what package design prices: it stores the data of a workload under several layouts, carries out the
// workload's operations, and compares what was sent with what was priced.
//
//	func TestLayouts(t *testing.T) {
//		w := auction().Scaled(0.1)
//		d, err := w.Design()
//		if err != nil {
//			t.Fatal(err)
//		}
//		report := designtest.Try(t, w, d.Best.Layout, design.Layout{Name: "normalized"})
//		report.Want(t, d.Best.Layout.Name, "ViewItem", 1, 1) // commands, documents
//		os.WriteFile("report.html", []byte(report.HTML()), 0o644)
//	}
//
// # Tasks
//
//   - Run layouts and measure them: [Try]; the results, layout by layout: [Report], [Trial]
//   - Hold an operation to a number of commands and documents: [Report.Want]
//   - See all in a table, or as charts in a page that opens without a network: [Report.String], [Report.HTML]
//
// # Costs
//
// A layout of 36,000 documents takes some five seconds on the engine, most of them for storing the data. Scale the workload
// down (design.Workload.Scaled): what an operation costs depends on the ratios between the counts.
//
// # Backends
//
// A trial runs on the engine of package modeltest and, where MONGODB_URI is set, on that server too.
package designtest
