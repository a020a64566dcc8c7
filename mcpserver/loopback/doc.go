// Package loopback serves HTTP only to programs and browsers on this machine: it listens on loopback addresses, refuses
// pages of other origins and rebound names, limits how slow a client may be, and stops without losing answers.
//
// Each request still needs a secret, which the handler must check with [Same]: other users of the machine can reach its
// loopback addresses too.
package loopback
