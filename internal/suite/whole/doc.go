// Package whole is a test-only package: it checks properties of plans that hold for every change.
package whole
