// Package runcommands tests the JSON commands over runs on a store in a directory, as a host uses them. The answers
// must be what package runs documents, whatever the store does.
package runcommands
