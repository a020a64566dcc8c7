package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
)

// The commands of fs_write that do not edit a file.
const (
	commandPattern = "pattern_replace"
	commandDelete  = "delete"
	commandMove    = "move"
)

// editParams returns the parameters of an edit.
func editParams() []string {
	return []string{
		"file_text", "overwrite", "old_str", "replace_all", "new_str", "insert_line", "start_line", "end_line",
		"content_hash", "range_hash",
	}
}

// commandParams returns, by command, the parameters other than path of the commands that are not edits.
func commandParams() map[string][]string {
	return map[string][]string{
		commandPattern: {"directory", "file_pattern", "sed_pattern", "recursive", "exclude_patterns"},
		commandDelete:  {"recursive"},
		commandMove:    {"destination", "overwrite"},
	}
}

// writeArgs are the arguments of fs_write, each as the call gave it.
type writeArgs map[string]json.RawMessage

func (a writeArgs) text(name string) string {
	var text string
	_ = json.Unmarshal(a[name], &text)
	return text
}

func (a writeArgs) flag(name string) bool {
	var flag bool
	_ = json.Unmarshal(a[name], &flag)
	return flag
}

// fsWrite creates, edits, moves and deletes files.
func fsWrite(ctx context.Context, c *call) (*answer, error) {
	var args writeArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	args.sayCommand()
	if problems := args.problems(); len(problems) > 0 {
		return nil, &millrace.ValidationError{Problems: problems}
	}
	switch args.text("command") {
	case commandPattern:
		return c.patternReplace(ctx, args)
	case commandDelete:
		return c.deleted(ctx, args)
	case commandMove:
		return c.moved(ctx, args)
	}
	w := &writing{call: c, single: args["fileEdits"] == nil}
	if w.single {
		edit := make(writeArgs)
		for _, name := range append(editParams(), "command") {
			if args[name] != nil {
				edit[name] = args[name]
			}
		}
		w.asked = []fileEdits{{Path: args.text("path"), Edits: []writeArgs{edit}}}
	} else if err := json.Unmarshal(args["fileEdits"], &w.asked); err != nil {
		return nil, err
	}
	return w.run(ctx, args)
}

// sayCommand sets the missing command of an edit whose parameters imply one. A new text alone implies none: its place
// may be the end of the file, or may have been forgotten.
func (a writeArgs) sayCommand() {
	if a["command"] != nil || a["fileEdits"] != nil {
		return
	}
	for _, of := range [][2]string{
		{"file_text", "create"}, {"old_str", "str_replace"}, {"insert_line", "insert"}, {"start_line", "replace_lines"},
		{"sed_pattern", commandPattern}, {"destination", commandMove},
	} {
		if a[of[0]] != nil {
			a["command"], _ = json.Marshal(of[1])
			return
		}
	}
}

// problems returns the problems of arguments that cannot be combined.
func (a writeArgs) problems() []millrace.Problem {
	var list []millrace.Problem
	add := func(pointer, code, hint, format string, values ...any) {
		message := fmt.Sprintf(format, values...)
		list = append(list, millrace.Problem{Pointer: pointer, Code: code, Hint: hint, Message: message})
	}
	command, several := a.text("command"), a["fileEdits"] != nil
	own, alone := commandParams()[command]
	needed := map[string][]string{
		commandPattern: {"file_pattern", "sed_pattern"}, commandDelete: {"path"}, commandMove: {"path", "destination"},
	}
	for _, name := range needed[command] {
		if a[name] == nil {
			add("", "missing_param", "", "'%s' is required for %s", name, command)
		}
	}
	switch {
	case alone:
	case several == (a["path"] != nil):
		add("", "two_forms", "", "one of 'path' and 'fileEdits' is required")
	case command == "" && !several:
		const hint = "create takes file_text, str_replace old_str and new_str, insert insert_line, append new_str"
		add("", "missing_param", hint, "'command' is required")
	}
	takes := append([]string{"command", "dry_run", "path"}, own...)
	if command == commandPattern {
		takes = slices.DeleteFunc(takes, func(name string) bool { return name == "path" })
	}
	if !alone {
		takes = append(takes, "fileEdits", "require_hash")
		if !several {
			takes = append(takes, editParams()...)
		}
	}
	for _, name := range sortedNames(a) {
		switch {
		case slices.Contains(takes, name):
		case alone:
			add("/"+name, "misplaced_param", "", "'%s' is not for %s", name, command)
		case several && slices.Contains(editParams(), name):
			add("/"+name, "misplaced_param", "", "with 'fileEdits', '%s' belongs into an edit of a file", name)
		default:
			add("/"+name, "misplaced_param", "", "'%s' is for %s", name, ofCommands(name))
		}
	}
	return list
}

// ofCommands returns the names of the commands that have a parameter.
func ofCommands(name string) string {
	var of []string
	for _, command := range []string{commandPattern, commandDelete, commandMove} {
		if slices.Contains(commandParams()[command], name) {
			of = append(of, command)
		}
	}
	return strings.Join(of, " or ")
}

// sayRange turns the content_hash of an edit of lines into a range_hash, if it is the hash of a range that was shown.
func (s *Server) sayRange(path string, edit writeArgs) {
	command := edit.text("command")
	if command != "insert" && command != "replace_lines" || edit["range_hash"] != nil {
		return
	}
	if s.ranges.has(path, edit.text("content_hash")) {
		edit["range_hash"] = edit["content_hash"]
		delete(edit, "content_hash")
	}
}

// sortedNames returns the names of arguments in order.
func sortedNames(args writeArgs) []string { return slices.Sorted(maps.Keys(args)) }
