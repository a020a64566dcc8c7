package command

import (
	"fmt"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// DeniedError reports that the host does not allow a command. The answer is the same each time.
type DeniedError struct {
	// Command is the program, or the whole command line if only some of its argument lists are allowed; "" if no command
	// at all can be run.
	Command string
	// Reason is the reason, "" if the policy's Allow does not have the program.
	Reason string
	// Hint is the advice, "" if none is known.
	Hint string
	// Err is the error of the host's Check, nil for other reasons.
	Err error
}

// noProgram is the reason for a program that does not exist.
const noProgram = "there is no such program in its PATH"

// Error returns the command and the reason: the host does not allow the command 'curl'.
func (e *DeniedError) Error() string { return e.message().Error() }

// As sets a target of a door of the project to the parts of the message.
func (e *DeniedError) As(target any) bool { return e.message().Give(target) }

func (e *DeniedError) message() *worded.Error {
	text := "the host does not allow commands"
	if e.Command != "" {
		text = fmt.Sprintf("the host does not allow the command '%s'", e.Command)
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Reason == noProgram {
		return worded.Errorf("%v", wording.Part{Kind: kinds.NoProgram, Value: e.Command, Text: text})
	}
	return worded.Errorf("%s", text)
}

// MarshalJSON returns the code, the message and the paths.
func (e *DeniedError) MarshalJSON() ([]byte, error) { return errorform.Marshal(e.Code(), e) }

// Code returns "exec_denied".
func (e *DeniedError) Code() string { return errorform.ExecDenied }

// Retryable returns false.
func (e *DeniedError) Retryable() bool { return false }

// Unwrap returns Err.
func (e *DeniedError) Unwrap() error { return e.Err }

// limitError reports that a command went beyond a limit of the policy and was killed.
type limitError struct {
	// The name of the limit: "printed bytes".
	What string
	// Limit is the allowed number, Got the number when the excess was noticed.
	Limit, Got int64
}

// Error returns the limit and the actual number.
func (e *limitError) Error() string {
	return fmt.Sprintf("the command was killed: %d %s, and the limit is %d", e.Got, e.What, e.Limit)
}

// Printed returns the limit and the number of printed bytes. The step words them with its other limits.
func (e *limitError) Printed() (limit, got int64) { return e.Limit, e.Got }

// MarshalJSON returns the code, the message and the paths.
func (e *limitError) MarshalJSON() ([]byte, error) { return errorform.Marshal(e.Code(), e) }

// Code returns "limit".
func (e *limitError) Code() string { return errorform.Limit }

// Retryable returns false: the command would print as much again.
func (e *limitError) Retryable() bool { return false }
