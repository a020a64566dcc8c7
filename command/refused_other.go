//go:build !linux

package command

// refused returns nil: this system has no sandbox.
func (Policy) refused(launch, Exit) *Refusal { return nil }
