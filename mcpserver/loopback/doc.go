// Package loopback serves HTTP to programs and browsers of this machine alone: it listens on loopback addresses,
// refuses pages of other origins and names that were rebound, bounds how slow a client may be, and ends without losing
// answers.
//
// Each request still needs a secret, which is for the handler to check with [Same]: other users of the machine reach
// its loopback addresses too.
package loopback
