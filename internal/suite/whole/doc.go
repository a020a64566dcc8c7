// Package whole is a test-only package: it holds properties of plans that are true of every change, whatever it is made
// of.
package whole
