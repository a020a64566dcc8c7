// Package runcommands tests the JSON commands over runs on a store in a directory, as a host has them: what they answer
// is what package runs promises, whatever the store does beneath.
package runcommands
