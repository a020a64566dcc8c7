package cli

import "github.com/spf13/cobra"

// newExitCodes makes the topic `help exit-codes`.
func (a *App) newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit status says",
		Long: `The exit status says what became of the tree:

    0  done, or there was nothing to do
    1  a step failed, or there were not as many edits as --expect asks for: the tree is untouched;
       or the output could not be written, and the message says what became of the tree
    2  wrong use, configuration, pipeline or plan: the tree is untouched
    3  blocked by risk, a limit or the policy, also with -n, or declined: the tree is untouched
    4  conflict: files have changed since the plan was made, or another run writes to the tree: untouched
    5  the commit failed and was taken back: the tree is as before
    6  recovery is needed, see millrace recover: the tree may be mixed
    7  a kept run waits for a decision, see millrace runs: the tree is untouched
   10  with --check: there would be changes
  130  interrupted: the tree is untouched, or as before

SIGINT (Ctrl-C), SIGTERM and SIGHUP ask the program to stop. It ignores those that it was started to ignore, as by nohup.
The first lets the program end in order, the second ends it at once:

    when               the first                                  the second
    before the commit  130, the tree is untouched                 130, the tree is untouched
    in the commit      130, the tree is as before, or 0           6, the tree may be mixed until millrace recover
    after the commit   0, the change was made                     1, and the message says that the change was made
    in millrace mcp    0, its calls are canceled and answered     130, or 6 in a commit`,
	}
}

// newTemplates makes the topic `help templates`.
func (a *App) newTemplates() *cobra.Command {
	return &cobra.Command{
		Use:   "templates",
		Short: "How a step takes values from earlier ones",
		Long: `A string in the parameters of a step may refer to what an earlier step has done. With a step that has the id find:

  {{find.files}}            the files it has found; {{find.files[0]}} is the first, {{find.files[-1]}} the last
  {{find.files_count}}      how many those are
  {{find.count}}            the sum of its counts; {{find.counts["a.go"]}} is one of them
  {{find.content["a.go"]}}  the text that it has read; {{find.aggregated_content}} is all of it, joined
  {{find.edits}}            how many replacements it has made
  {{find.output}}           what it has printed or answered
  {{find.ok}} {{find.error}} {{find.skipped}} {{find.risk}}

  {{prev.output}}           of the step that ran last
  {{vars.name}}             a variable of the pipeline
  {{run.id}} {{run.name}}   of the run and its pipeline

A string that is one reference and nothing else keeps the type of the value, so "files": "{{find.files}}" is a list.
Braces that name no step are text. A backslash before a reference makes it text: \{{find.count}}. A step with
"raw": true has no references at all.`,
	}
}

// newEvents makes the topic `help events`.
func (a *App) newEvents() *cobra.Command {
	return &cobra.Command{
		Use:   "events",
		Short: "What --events writes",
		Long: `With --events FILE, or - for stdout, a line of JSON is written for each thing that happens:

  {"v":1,"event":"run_started","time":"2026-01-02T15:04:05.678Z","pipeline":"fix","phase":"run","steps":2,"dry_run":false}
  {"v":1,"event":"step_finished","time":…,"step":"find",…}
  {"v":1,"event":"commit_phase","time":…,"phase":"apply","done":64,"total":3085}
  {"v":1,"event":"run_finished",…}

The last line is what the command came to, also if it has failed or was interrupted:

  {"v":1,"event":"result","time":…,"result":{…},"error":{"code":"blocked","message":"…"}}

Names of fields are those of the library's JSON, see docs/json-results.md. New events and fields may come; a program should leave
out those that it does not know. A file is added to, not replaced.`,
	}
}

// newFormats makes the topic `help formats`.
func (a *App) newFormats() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "What --format prints",
		Long: `What goes to stdout is what the command was asked for; warnings, progress and the summary go to stderr. With --format:

  diff    a patch that git apply takes; on a terminal with colours and by way of a pager
  stat    the files with how many lines come and go
  names   the names of the files, one a line, or with -0 a NUL behind each; they count from the working directory, and a
          file that is renamed has its new name
  json    one object on a line: the result as docs/json-results.md lists it, of a plan with its "digest". If something is wrong
          it is {"error":{"code":…,"message":…,"problems":[…],"paths":[…]}}, with the "result" if there is one
  jsonl   {"file":{…}} for each file with its hunks, and in the end {"result":{…}} or {"error":{…}}
  html    one page that needs no other file, to be read before the change is made
  lsp     a WorkspaceEdit of the Language Server Protocol; what that cannot say is an error that lists it
  report  the compact line; with -v all there is to say
  none    nothing

Without --format, a change that is made prints the compact line, or with -q the id of its backup, and one that is not
made, or not yet, its diff. In the diff paths count from the root of the tree.`,
	}
}
