// Package e2e runs campaigns on a real Temporal server that the tests start in their own process, with workers in
// processes that are killed or suspended for a while. It is a separate module and not part of the usual checks, because
// building the server takes a quarter of an hour. Run "make e2e" for every change in the module temporal and before a
// release.
//
//	MILLRACE_E2E_TARGETS=10000 make e2e     more targets, see TestKilledWorker
//	MILLRACE_E2E_STORE=yes make e2e         all workers share a store of durable runs
//	MILLRACE_E2E_RECORD=1 make e2e          writes the histories that the tests of the module temporal replay
package e2e
