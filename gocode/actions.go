package gocode

import "github.com/millrace-go/millrace/actions"

// Actions returns the prototypes of go_format, go_imports, go_fix and go_rewrite.
func Actions() []actions.Action {
	return []actions.Action{Format{}, Imports{}, Fix{}, Rewrite{}}
}
