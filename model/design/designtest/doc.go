// Package designtest measures what package design prices. It stores the data of a workload
// under several layouts, runs the operations of the workload, and compares the costs with
// the prices.
//
//	func TestLayouts(t *testing.T) {
//		d, err := shop.Design() // shop is a design.Workload
//		if err != nil {
//			t.Fatal(err)
//		}
//		report := designtest.Try(t, shop.Scaled(0.1), d.Best.Layout, d.Normalized.Layout, mine)
//		report.Want(t, "best", "show a product", 1, 1) // at most one command and one document
//		os.WriteFile("report.html", []byte(report.HTML()), 0o644)
//	}
//
// The layouts of a design are named "best", "next 1" and so on, and "normalized".
//
// # Tasks
//
//   - Run and measure layouts: [Try]
//   - Assert the commands and documents of an operation: [Report.Want]
//   - Look at the result: [Report.String], [Report.HTML]
//
// # Costs
//
// A layout with 36,000 documents takes about a second on the engine, and three seconds on a
// server. Use design.Workload.Scaled for large workloads. The trial is then compared with
// the prices of the scaled workload, which differ from those of the full one.
//
// # Backends
//
// A trial runs on the engine of package modeltest. If MONGODB_URI is set, it also runs on
// that server.
package designtest
