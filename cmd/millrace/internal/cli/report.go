package cli

import (
	"errors"

	"github.com/millrace-go/millrace"
)

// report reports an error to the user: on stdout if the format is JSON, otherwise on stderr.
func (a *App) report(err error) {
	if err == nil || isType[*saidError](err) {
		return
	}
	if a.flags.format == formatJSON || a.flags.format == formatJSONL {
		object := map[string]any{"error": failureOf(err)}
		if a.failed != nil {
			object["result"] = a.failed
		}
		if a.writeJSON(object) == nil {
			return
		}
	}
	prefix := "millrace: "
	if isType[*sourceError](err) || isType[*configError](err) {
		prefix = ""
	}
	a.complain(prefix + a.words(err))
	if hint := a.hintOf(err); hint != "" {
		a.complain(hint)
	}
}

// hintOf returns a hint on the next step, "" for none.
func (a *App) hintOf(err error) string {
	if hint := a.refusalHint(err); hint != "" {
		return hint
	}
	blocked, isBlocked := errors.AsType[*millrace.BlockedError](err)
	conflict, isConflict := errors.AsType[*millrace.ConflictError](err)
	switch {
	case isBlocked && !blocked.Host:
		return "look at it with --dry-run, then pass --force; 'risk' and 'max_files' in your configuration set where that begins"
	case isConflict && conflict.Restores != "":
		return "leave them out with: --except PATH"
	case statusOf(err) == exitRecovery:
		return "run: millrace recover; of what it refuses, recover --trust ID or --discard ID decides"
	case a.usage == "millrace" || a.usage == "millrace [flags]":
		return "see: millrace help"
	case a.usage != "":
		return "usage: " + a.usage
	}
	return ""
}
