//go:build !linux

package disk

import "github.com/spf13/afero"

// systemOf returns the System for a file system.
func systemOf(fsys afero.Fs) System { return plain{fsys} }
