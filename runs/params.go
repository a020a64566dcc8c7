package runs

import (
	"slices"
	"strings"
)

func projectParam() param {
	return param{
		name: "projectId", alias: "project_id", kind: text, doc: "Key of the tree, as the host calls it.",
		set: func(a *args, v value) { a.run.Project = v.text },
	}
}

func runParam() param {
	return param{
		name: "pipelineId", alias: "pipeline_id", kind: ident, doc: "Number of the run, or its run id.",
		set: func(a *args, v value) { a.run.ID = v.text },
	}
}

func jobParam() param {
	return param{
		name: "jobId", alias: "job_id", kind: ident,
		doc: "Number of the job, or \"RUN/STEP\" for the latest job of a step, \"RUN/commit\" for the commit.",
		set: func(a *args, v value) { a.job = v.text },
	}
}

// folded marks parameters as available only for lenient decoding.
func folded(list ...param) []param {
	for i := range list {
		list[i].lenient = true
	}
	return list
}

func filterParams() []param {
	return []param{
		{
			name: "status", kind: word, words: words(Statuses()), doc: "Runs of this status.",
			set: func(a *args, v value) { a.filter.Status = Status(v.texts[0]) },
		},
		{
			name: "ref", kind: text, doc: "Runs that were created from this name of the library.",
			set: func(a *args, v value) { a.filter.Ref = v.text },
		},
		{
			name: "sha", kind: digest,
			doc: "Runs of pipelines whose digest begins with these hexadecimal digits, at least 7.",
			set: func(a *args, v value) { a.filter.SHA = strings.ToLower(v.text) },
		},
		{
			name: "username", kind: text, doc: "Runs that this user has created.",
			set: func(a *args, v value) { a.filter.User = v.text },
		},
		{
			name: "yaml_errors", kind: flag, doc: "Runs whose pipeline could not be read (true), or could be read (false).",
			set: func(a *args, v value) { a.filter.YAMLErrors = &v.flag },
		},
		{
			name: "updated_before", kind: moment,
			doc: "Runs whose last change was before this RFC 3339 time.",
			set: func(a *args, v value) { a.filter.UpdatedBefore = v.at },
		},
		{
			name: "updated_after", kind: moment, doc: "Runs whose last change was after this RFC 3339 time.",
			set: func(a *args, v value) { a.filter.UpdatedAfter = v.at },
		},
		{
			name: "name", kind: text, doc: "Runs of pipelines of this name.",
			set: func(a *args, v value) { a.filter.Name = v.text },
		},
		{
			name: "order_by", kind: word, words: words(orders()), doc: "Field that orders the runs. Default: id.",
			set: func(a *args, v value) { a.filter.OrderBy = Order(v.texts[0]) },
		},
		{
			name: "sort", kind: word, words: []string{"asc", "desc"}, doc: "Direction of the order. Default: desc.",
			set: func(a *args, v value) { a.filter.Ascending = v.texts[0] == "asc" },
		},
		{
			name: "source", kind: text,
			doc: "Runs from this source: api, cli, mcp, schedule, or parent_pipeline for runs that another run has started.",
			set: func(a *args, v value) { a.filter.Source = v.text },
		},
		{
			name: "snapshot", kind: whole, least: 1, most: maxNumber,
			doc: "The snapshot of the first page, so that new runs do not move the items of later pages.",
			set: func(a *args, v value) { a.filter.Snapshot = v.number },
		},
	}
}

func jobsParams() []param {
	return []param{
		{
			name: "scope", kind: word, words: words(jobStatuses()), many: true, doc: "Jobs of this status.",
			set: func(a *args, v value) {
				for _, s := range v.texts {
					a.jobs.Scope = append(a.jobs.Scope, Status(s))
				}
			},
		},
		{
			name: "include_retried", kind: flag, doc: "List all jobs, also the jobs that were retried.",
			set: func(a *args, v value) { a.jobs.IncludeRetried = v.flag },
		},
	}
}

func pagingParams() []param {
	return []param{
		{
			name: "page", kind: whole, least: 1, most: maxPage, doc: "Number of the page. Default: 1.",
			set: func(a *args, v value) { a.filter.Paging.Page, a.jobs.Paging.Page = int(v.number), int(v.number) },
		},
		{
			name: "per_page", kind: whole, least: 1, most: MaxPerPage, doc: "Items on a page. Default: 20.",
			set: func(a *args, v value) { a.filter.PerPage, a.jobs.PerPage = int(v.number), int(v.number) },
		},
	}
}

func linesParams() []param {
	return []param{
		{
			name: "start", kind: whole, least: -maxPage, most: maxPage,
			doc: "First line, from 1; a negative number counts from the end. Default: the last lines.",
			set: func(a *args, v value) { a.lines.Start = int(v.number) },
		},
		{
			name: "limit", kind: whole, least: 1, most: MaxLines, doc: "Number of lines. Default: 200.",
			set: func(a *args, v value) { a.lines.Limit = int(v.number) },
		},
	}
}

func createParams() []param {
	return []param{
		{
			name: "ref", kind: text, doc: "Name of a pipeline of the library.",
			set: func(a *args, v value) { a.create.Ref = v.text },
		},
		{
			name: "definition", kind: definition,
			doc: "The pipeline itself: an object, its JSON as a text, or the name of a pipeline of the library.",
			set: func(a *args, v value) { a.definition = v.node },
		},
		{
			name: "variables", kind: variables, typed: true, doc: "Values of variables of the pipeline, at most 100.",
			set: func(a *args, v value) { a.create.Variables = v.variables },
		},
	}
}

func playParams() []param {
	return []param{
		{
			name: "job_variables_attributes", kind: variables,
			doc: "Values that variables of the pipeline have from here on, at most 100.",
			set: func(a *args, v value) { a.play.Variables = v.variables },
		},
		{
			name: "force", kind: flag, doc: "Pass the file limit and the risk levels, up to the host's ceiling.",
			set: func(a *args, v value) { a.play.Force = v.flag },
		},
		{
			name: "plan_digest", kind: text, doc: "Digest of the reviewed plan; another plan is refused.",
			set: func(a *args, v value) { a.play.PlanDigest = v.text },
		},
	}
}

// paramNames returns the names of the parameters.
func (c *command) paramNames(lenient bool) []string {
	names := []string{"action"}
	for i := range c.params {
		if lenient || !c.params[i].lenient {
			names = append(names, c.params[i].name)
		}
	}
	return slices.Clip(names)
}
