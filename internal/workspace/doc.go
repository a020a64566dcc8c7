// Package workspace makes the tree of a run on disk for steps that run programs, and stages the changes of a program
// within the limits of a step.
package workspace
