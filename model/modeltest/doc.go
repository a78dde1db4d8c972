// Package modeltest tests code that uses package model, without an installed server. It
// stands on package mongotest, the server in memory. The code under test can also use the
// driver alone.
//
//	func TestTransfer(t *testing.T) {
//		monitor := mongotest.NewMonitor()
//		client := mongotest.NewClient(t, monitor)
//		plan := bank.Transfer("ann", "bob", 7) // a model.Plan
//		modeltest.WantCost(t, monitor, plan.Cost(), func() error { … })
//	}
//
//	the question is                         use
//	what does it cost?                      WantCost, Measure
//	does an index serve it?                 WantIndexed
//
//	the trouble is                          use
//	a crash at every command                FaultMatrix
//	two operations, in every order          Interleave
//	a whole model: all of this              Verify
//
// For single failures, see [mongotest.Faults]. [mongotest.Writes], [mongotest.Named] and
// other functions select commands.
//
// # Backends
//
// [FaultMatrix], [Interleave] and [Verify] use the server in memory. If MONGODB_URI is set,
// they also use that server: see [mongotest.Each].
package modeltest
