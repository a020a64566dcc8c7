//go:build !linux

package command

// refused returns nil: there is no sandbox.
func (Policy) refused(launch, Exit) *Refusal { return nil }
