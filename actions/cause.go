package actions

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// The causes of [FileReport.Cause].
const (
	causeApplied      = "already_applied"
	causeDenied       = "permission_denied"
	causeExists       = "exists"
	causeIsDir        = "is_directory"
	causeNoHash       = "no_hash"
	causeNotFound     = "not_found"
	causeNotRecursive = "not_recursive"
	causeNotUnique    = "not_unique"
	causeOutside      = "outside_root"
	causeRange        = "out_of_range"
	causeReadOnly     = "read_only"
	causeStale        = "stale"
	causeText         = "text_not_found"
)

// errProtected reports that a change of a file would be blocked.
var errProtected = errors.New("is read-only, so it is written to with force only")

// errNoHash refuses to overwrite a file without a hash of its present content.
var errNoHash = errors.New("require_hash is set and the file exists, but create has no content_hash")

// sentinels are the errors that have a cause but not the method cause. The first match counts.
var sentinels = [...]struct {
	err   error
	cause string
}{
	{fsutil.ErrReadOnlyPath, causeReadOnly}, {fsutil.ErrReadOnly, causeReadOnly},
	{fs.ErrPermission, causeDenied}, {errProtected, causeDenied}, {fsutil.ErrNotAllowed, causeDenied},
	{fsutil.ErrReserved, causeDenied}, {fsutil.ErrProtected, causeDenied}, {fsutil.ErrDenied, causeDenied},
	{fsutil.ErrEscape, causeOutside}, {fsutil.ErrAbsolute, causeOutside},
	{fs.ErrNotExist, causeNotFound}, {fs.ErrExist, causeExists}, {fsutil.ErrIsDir, causeIsDir},
	{errNoHash, causeNoHash},
}

// causeOf returns the cause of an error, "" if it is not in the list of [FileReport.Cause]. For several errors, the
// first with a cause counts.
func causeOf(err error) string {
	for err != nil {
		switch e := err.(type) {
		case interface{ cause() string }:
			return e.cause()
		case *worded.Error:
			if slices.ContainsFunc(wording.Parts(e), func(p wording.Part) bool { return p.Kind == kinds.SetRecursive }) {
				return causeNotRecursive
			}
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				if cause := causeOf(one); cause != "" {
					return cause
				}
			}
			return ""
		}
		is, _ := err.(interface{ Is(target error) bool })
		for _, s := range sentinels {
			if err == s.err || is != nil && is.Is(s.err) {
				return s.cause
			}
		}
		err = errors.Unwrap(err)
	}
	return ""
}
