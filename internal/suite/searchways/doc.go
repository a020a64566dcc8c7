// Package searchways is a test-only package: a search finds the same in every way in which it can be done.
package searchways
