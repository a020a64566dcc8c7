//go:build !linux

package scratch

func (l *lock) hidesMapped() (bool, error) { return false, nil }

func (l *lock) makeMappable() error { return nil }
