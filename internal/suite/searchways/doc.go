// Package searchways is a test-only package: it checks that every kind of search finds the same.
package searchways
