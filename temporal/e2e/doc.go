// Package e2e runs campaigns on a real server of Temporal that the tests start in their own process, with workers in
// processes that are killed, or stand still for a while. It is a module of its own, and no part of the usual checks,
// since building the server takes a quarter of an hour: "make e2e", for every change in the module temporal and before
// a release.
//
//	MILLRACE_E2E_TARGETS=10000 make e2e     more targets, see TestKilledWorker
//	MILLRACE_E2E_STORE=yes make e2e         all workers share a store of durable runs
//	MILLRACE_E2E_RECORD=1 make e2e          writes the histories that the tests of the module temporal replay
package e2e
