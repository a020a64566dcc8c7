// Package workspace makes the tree of a run real for the steps that run programs, and brings the changes of a program
// back onto the stage within the limits of a step.
package workspace
