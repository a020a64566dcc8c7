// Package outcome bounds and cleans the data, the output and the warnings of one attempt of an action before a run
// keeps them.
package outcome
