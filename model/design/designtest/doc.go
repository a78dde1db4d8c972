// Package designtest measures the layouts of package design. It stores a workload's data
// under each layout and runs the operations.
//
//	func TestLayouts(t *testing.T) {
//		d, err := shop.Design() // shop is a design.Workload
//		if err != nil {
//			t.Fatal(err)
//		}
//		report := designtest.Try(t, shop.Scaled(0.1), d.Best.Layout, d.Normalized.Layout)
//		report.Want(t, "best", "show a product", 1, 1) // at most one command, one document
//		os.WriteFile("report.html", []byte(report.HTML()), 0o644)
//	}
//
// The layouts of a design are named "best", "next 1" and so on, and "normalized".
//
// # Tasks
//
//   - Run and measure layouts: [Try]
//   - Assert the cost of an operation: [Report.Want]
//   - Show the result: [Report.String], [Report.HTML]
//
// # Costs
//
// Each trial inserts all documents of the workload. To insert fewer, use
// design.Workload.Scaled. Trials run on modeltest's engine and, if MONGODB_URI is set, on
// that server.
package designtest
