// Package kills holds a test that kills processes. Four writers, each a process of its own, use techniques on shared
// documents; they are killed (SIGKILL) at random moments, 200 times, and started again. A writer that was killed runs
// the operation that it had begun once more, with the same token, as the documentation of the techniques says. In the
// end nothing may be lost, doubled or out of order.
package kills
