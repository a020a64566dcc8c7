// Package plans is a test-only package: it checks how a plan is stored, judged, approved and committed elsewhere.
package plans
