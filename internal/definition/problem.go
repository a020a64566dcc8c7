package definition

import "fmt"

// Problem is one mistake in a pipeline. The public type of the same name documents the fields.
type Problem struct {
	Pointer, Code, Message, Hint string
	Step                         string
	Line, Column                 int
	Err                          error
}

// Invalid is the error of a pipeline with problems.
type Invalid struct {
	Problems []Problem
	// Template reports that a problem is about a template.
	Template bool
}

// Error counts the problems. The root package has the text for people.
func (e *Invalid) Error() string { return fmt.Sprintf("pipeline has %d problems", len(e.Problems)) }
