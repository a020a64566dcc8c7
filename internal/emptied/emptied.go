// Package emptied names the templates that have emptied lists of a step's parameters. An action needs it where an
// empty list selects everything: a list that a template has emptied must select nothing.
package emptied

import "context"

type key struct{}

// With returns the context for the action of a step. find returns a template that has put an empty list into the
// parameter at a pointer, "" if none has.
func With(ctx context.Context, find func(param string) string) context.Context {
	return context.WithValue(ctx, key{}, find)
}

// By calls the function that was given to With. It returns "" for any other context.
func By(ctx context.Context, param string) string {
	if find, ok := ctx.Value(key{}).(func(string) string); ok {
		return find(param)
	}
	return ""
}
