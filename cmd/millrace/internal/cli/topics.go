package cli

import "github.com/spf13/cobra"

// newExitCodes makes the topic `help exit-codes`.
func (a *App) newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "The exit status",
		Long: `The exit status reports the state of the tree:

    0  done, or there was nothing to do
    1  a step failed, or there were not as many edits as --expect asks for: the tree is untouched;
       or the output could not be written, and the message describes the state of the tree
    2  wrong use, configuration, pipeline or plan: the tree is untouched
    3  blocked by risk, a limit or the policy, also with -n, or declined: the tree is untouched
    4  conflict: files have changed since the plan was made, or another run writes to the tree: untouched
    5  the commit failed and was rolled back: the tree is as before
    6  recovery is needed, see millrace recover: the tree may be mixed
    7  a kept run waits for a decision, see millrace runs: the tree is untouched
   10  with --check: there would be changes
  130  interrupted: the tree is untouched, or as before

SIGINT (Ctrl-C), SIGTERM and SIGHUP ask the program to stop. It ignores signals that it was started to
ignore, as by nohup. The first signal lets the program end in order, the second signal ends it at once:

    when               the first                                  the second
    before the commit  130, the tree is untouched                 130, the tree is untouched
    in the commit      130, the tree is as before, or 0           6, the tree may be mixed until millrace recover
    after the commit   0, the change was made                     1, with a message that the change was made
    in millrace mcp    0, its calls are canceled and answered     130, or 6 in a commit`,
	}
}

// newTemplates makes the topic `help templates`.
func (a *App) newTemplates() *cobra.Command {
	return &cobra.Command{
		Use:   "templates",
		Short: "Templates: values of earlier steps",
		Long: `A string in the parameters of a step may refer to the result of an earlier step. For a step with the id find:

  {{find.files}}            the found files; {{find.files[0]}} is the first, {{find.files[-1]}} the last
  {{find.files_count}}      the number of these files
  {{find.count}}            the sum of its counts; {{find.counts["a.go"]}} is the count of a file
  {{find.content["a.go"]}}  the text of a file; {{find.aggregated_content}} is all text, joined
  {{find.edits}}            the number of its replacements
  {{find.output}}           its printed output or reply
  {{find.ok}} {{find.error}} {{find.skipped}} {{find.risk}}

  {{prev.output}}           of the step that ran last
  {{vars.name}}             a variable of the pipeline
  {{run.id}} {{run.name}}   of the run and its pipeline

A string that is exactly one reference keeps the type of the value, so "files": "{{find.files}}" is a list. Braces
that name no step are text. A backslash before a reference makes it text: \{{find.count}}. A step with "raw": true
has no references at all.`,
	}
}

// newEvents makes the topic `help events`.
func (a *App) newEvents() *cobra.Command {
	return &cobra.Command{
		Use:   "events",
		Short: "The output of --events",
		Long: `With --events FILE, or - for stdout, each event is a line of JSON:

  {"v":1,"event":"run_started","time":"2026-01-02T15:04:05.678Z","pipeline":"fix","phase":"run","steps":2,"dry_run":false}
  {"v":1,"event":"step_finished","time":…,"step":"find",…}
  {"v":1,"event":"commit_phase","time":…,"phase":"apply","done":64,"total":3085}
  {"v":1,"event":"run_finished",…}

The last line is the result of the command, also if it has failed or was interrupted:

  {"v":1,"event":"result","time":…,"result":{…},"error":{"code":"blocked","message":"…"}}

The fields have the names of the library's JSON, see docs/json-results.md. Later versions may add events and
fields; programs should ignore unknown events and fields. Events are appended to an existing file.`,
	}
}

// newFormats makes the topic `help formats`.
func (a *App) newFormats() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "The output of --format",
		Long: `The result goes to stdout; warnings, progress and the summary go to stderr. A terminal gets sentences and tables
broken at words to its width; a file or a pipe gets each line whole. With --format:

  diff    a patch that git apply takes; on a terminal with colours and a pager
  stat    the files with the numbers of added and removed lines
  names   the names of the files, each on a line, or with -0 with a NUL after each; they count from the working
          directory, and a renamed file has its new name
  json    an object on a line: the result as in docs/json-results.md, for a plan with its "digest"; for an error
          {"error":{"code":…,"message":…,"problems":[…],"paths":[…]}}, with the "result" if it exists
  jsonl   {"file":{…}} for each file with its hunks, and at the end {"result":{…}} or {"error":{…}}
  html    a self-contained page, to read before the change is made
  lsp     a WorkspaceEdit of the Language Server Protocol; an error lists changes that it cannot express
  report  the compact line; with -v all details
  none    nothing

Without --format, a committed change prints the compact line, or with -q the id of its backup. A change that is
not committed, or not yet, prints its diff. Paths in the diff count from the root of the tree.`,
	}
}
