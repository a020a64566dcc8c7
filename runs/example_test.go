package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/millrace-go/millrace/runs"
)

// A host offers its runs to programs and models as three commands. Here the runs are kept in memory.
func ExampleTools() {
	tools := newEngine().tools()
	fmt.Println(tools.Names())

	ctx := context.Background()
	answer, err := tools.Call(ctx, "browse_pipelines",
		json.RawMessage(`{"action":"list","projectId":"p","status":"failed"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var page runs.Page[runs.Run]
	if err := json.Unmarshal(answer, &page); err != nil {
		fmt.Println(err)
		return
	}
	for _, run := range page.Items {
		fmt.Println(run.ID, run.Name, run.Status)
	}

	_, err = tools.Call(ctx, "manage_pipeline", json.RawMessage(`{"action":"cancel","projectId":"p","pipelineId":12}`))
	fmt.Println(err)
	_, err = tools.Call(ctx, "manage_pipeline", json.RawMessage(`{"action":"cancel","projectId":"p","pipeline_id":12}`))
	fmt.Println(err)

	// Without Manage and Jobs the host is read-only.
	tools.Manage, tools.Jobs = nil, nil
	_, err = tools.Call(ctx, "manage_pipeline", json.RawMessage(`{"action":"cancel","projectId":"p","pipelineId":12}`))
	fmt.Println(tools.Names(), err)
	// Output:
	// [browse_pipelines manage_pipeline manage_pipeline_job]
	// 12 rename failed
	// cannot cancel run 12: it is failed
	// manage_pipeline: 2 problems:
	//   - unknown parameter 'pipeline_id': did you mean 'pipelineId'?
	//   - cancel action requires 'pipelineId' parameter
	// [browse_pipelines] manage_pipeline is not available: read-only
}

// Stores and engines ask a run which verbs its status allows.
func ExampleRun_Check() {
	run := runs.Run{ID: "12", Status: runs.Success}
	err := run.Check(runs.VerbRetry)
	var refused *runs.StateError
	fmt.Println(errors.As(err, &refused), err)
	// Output: true cannot retry run 12: it is success, create a new run
}

// A page is a part of a list in the order of the filter.
func ExampleFilter_PageOf() {
	all := []runs.Run{{ID: "1", User: "bob"}, {ID: "2", User: "ann"}, {ID: "3", User: "bob"}}
	page := runs.Filter{User: "bob", Ascending: true, Paging: runs.Paging{PerPage: 1}}.PageOf(all)
	fmt.Println(page.Items[0].ID, page.Total, page.NextPage, page.Snapshot)
	// Output: 1 2 2 3
}
