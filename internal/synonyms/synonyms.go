// Package synonyms has the names that other tools give to parameters. It is the one table of all doors: lenient
// decoding takes them, hints are made of them, and so are those of the prompt and of the MCP server.
package synonyms

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/nearest"
)

// Of returns the names that other tools give to a parameter of that name, separated by spaces, "" if none are known. A
// flag with hyphens is the parameter with underscores.
func Of(name string) string { return table()[strings.ReplaceAll(name, "-", "_")] }

// Meant returns the name of a list that another name stands for. ok is false if the list has none such, or several.
func Meant(name string, names []string) (meant string, ok bool) {
	for _, candidate := range names {
		if Same(candidate, name) {
			return candidate, true
		}
	}
	for _, candidate := range names {
		if slices.ContainsFunc(strings.Fields(Of(candidate)), func(s string) bool { return Same(s, name) }) {
			if meant != "" {
				return "", false
			}
			meant = candidate
		}
	}
	return meant, meant != ""
}

// Suggest returns the name of a list that an unknown name was probably meant for: the name that it is a synonym of, or
// else the nearest. Every door asks it for a name of a parameter, a flag, a field, or a key. ok is false if no name of
// the list is meant.
func Suggest(name string, names []string) (meant string, ok bool) {
	if meant, ok = Meant(name, names); ok {
		return meant, true
	}
	return nearest.Of(name, names)
}

// Same reports whether two names differ only in case, underscores and hyphens.
func Same(a, b string) bool { return plain(a) == plain(b) }

func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// table has a row for each parameter. A name that is in the rows of two parameters of one object stands for none.
func table() map[string]string {
	const (
		path = "file file_path filename target_file absolute_path dir directory root folder " +
			"relative_workspace_path target_directory"
		files = "file file_path file_paths path paths filenames"
		text  = "content contents file_text text file_content new_content body"
		first = "start from_line line_start line offset start_line_one_indexed first_line"
		last  = "end to_line line_end last_line end_line_one_indexed_inclusive"
		old   = "old_string old search find search_text find_text old_text old_str"
		fresh = "new_string new replace replace_text replace_with replacement new_text new_str"
	)
	return map[string]string{
		"old_text":         old,
		"old_str":          old,
		"new_text":         fresh,
		"new_str":          fresh + " insert_text",
		"replacement":      fresh,
		"pattern":          "regex regexp query search search_text find text glob_pattern",
		"edits":            "replacements changes",
		"patterns":         "transforms rules replacements",
		"files":            files,
		"paths":            "files file_paths filenames target_directories",
		"path":             path,
		"file_types":       "extensions exts types",
		"include":          "glob globs include_globs include_pattern include_patterns includes file_pattern",
		"exclude":          "exclude_globs exclude_pattern exclude_patterns excludes",
		"exclude_patterns": "exclude excludes exclude_globs exclude_pattern",
		"file_pattern":     "glob include files",
		"sed_pattern":      "script sed expression",
		"destination":      "dest dst target target_dir destination_dir to_dir to new_path new_name destination_path",
		"ignore_case":      "case_insensitive",
		"start_line":       first,
		"start":            "start_line " + first,
		"end_line":         last,
		"end":              "end_line " + last,
		"insert_line":      "line after_line line_number",
		"limit":            "head_limit max_results max_count num_lines max",
		"context_lines":    "context lines_of_context C",
		"depth":            "max_depth levels",
		"output":           "output_mode",
		"content":          text,
		"file_text":        text,
		"overwrite":        "replace_existing",
		"replace_all":      "all global allow_multiple",
		"dry_run":          "dry preview preview_only simulate what_if",
		"patch":            "input diff patch_text",
		"pipeline_json":    "pipeline definition",
		"backup_id":        "id backup commit",
		"plan_id":          "id plan",
		"id":               "backup_id backup",
		"action":           "name",
		"command":          "action operation op",
		"fileEdits":        "file_edits",
		"image_paths":      "images image_path",
	}
}
