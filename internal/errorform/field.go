package errorform

import "fmt"

// FieldError reports a value that is not allowed in a field of a fleet or of its parts. No program branches on it: a
// host corrects the field.
type FieldError struct{ Field, Value, Reason string }

// Error names the field, the value and the reason.
func (e *FieldError) Error() string {
	return fmt.Sprintf("fleet: %s %q: %s", e.Field, e.Value, e.Reason)
}

// MarshalJSON gives the code, the message and the paths.
func (e *FieldError) MarshalJSON() ([]byte, error) { return Marshal(Internal, e) }
