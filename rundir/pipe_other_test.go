//go:build !unix

package rundir

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
